/** A picture as shapes, from the model and not from the screen: what SVG and PNG are made of. Pure. */

import { breakable, elided, visible } from "../../format/text";
import { layOut, type Point } from "../../graph/layout";
import { CARD_WIDTH, gapOf, shortName, typeWords } from "../canvas/cardSize";
import { throughWords } from "../picture/edges";
import type { Picture, PictureLink, PictureNode } from "../picture/picture";

export interface Box {
    shape: "box";
    x: number;
    y: number;
    width: number;
    height: number;
    radius: number;
    fill: string;
    stroke: string;
    /** What it is, whole. */
    title: string;
}

/** A cubic curve from the right of a box to the left of another. */
export interface Curve {
    shape: "curve";
    from: Point;
    to: Point;
    bend: number;
    stroke: string;
    dash: readonly number[];
}

export interface Text {
    shape: "text";
    x: number;
    y: number;
    size: number;
    isBold: boolean;
    isCentered: boolean;
    fill: string;
    text: string;
}

export type Shape = Box | Curve | Text;

export interface Drawing {
    width: number;
    height: number;
    title: string;
    background: string;
    shapes: Shape[];
}

const MARGIN = 24;
const HEAD = 44;
const LINE = 17;
const LINE_LENGTH = 22;
const INK = "#16222a";
const SOFT = "#50606b";
const DASHES: Record<string, readonly number[]> = { declared: [8, 5], inferred: [2, 5] };

/** The picture as shapes, below a title that says what it is of, and as of when. */
export function drawingOf(picture: Picture, rootId: string, title: string): Drawing {
    const boxes = picture.nodes.map((node) => ({
        id: node.id,
        width: CARD_WIDTH,
        height: 38 + linesOf(node).length * LINE,
    }));
    const gap = gapOf(picture, false);
    const { positions } = layOut({ boxes, links: picture.links, before: {}, ...(gap === undefined ? {} : { gap }) });
    const placed = new Map(
        boxes.map((box) => {
            const { x, y } = positions[box.id] ?? { x: 0, y: 0 };
            return [box.id, { ...box, x: x + MARGIN, y: y + MARGIN + HEAD }];
        }),
    );
    const links = picture.links.flatMap((link) => {
        const [source, target] = [placed.get(link.source), placed.get(link.target)];
        return source && target ? linkShapes(link, source, target) : [];
    });
    const nodes = picture.nodes.flatMap((node) => {
        const box = placed.get(node.id);
        return box ? nodeShapes(node, box, node.id === rootId) : [];
    });
    const all = [...placed.values()];
    return {
        width: Math.max(480, ...all.map(({ x, width }) => x + width)) + MARGIN,
        height: Math.max(HEAD, ...all.map(({ y, height }) => y + height)) + MARGIN,
        title,
        background: "#ffffff",
        shapes: [
            ...links,
            ...nodes,
            {
                shape: "text",
                x: MARGIN,
                y: MARGIN + 6,
                size: 14,
                isBold: true,
                isCentered: false,
                fill: INK,
                text: elided(title, 110),
            },
        ],
    };
}

interface Placed extends Point {
    width: number;
    height: number;
}

function linkShapes(link: PictureLink, source: Placed, target: Placed): Shape[] {
    const from = { x: source.x + source.width, y: source.y + source.height / 2 };
    const to = { x: target.x, y: target.y + target.height / 2 };
    const bend = Math.max(30, Math.abs(to.x - from.x) / 2);
    const words = [link.label === "current" ? "" : link.label, throughWords(link)].filter((word) => word !== "");
    const curve: Curve = {
        shape: "curve",
        from,
        to,
        bend,
        stroke: link.onlyFailed ? "#a81b2b" : "#7b8c97",
        dash: DASHES[link.origin] ?? [],
    };
    if (words.length === 0) return [curve];
    const middle = { x: (from.x + to.x) / 2, y: (from.y + to.y) / 2 - 4 };
    return [
        curve,
        { shape: "text", ...middle, size: 11, isBold: false, isCentered: true, fill: SOFT, text: words.join(", ") },
    ];
}

function nodeShapes(node: PictureNode, { x, y, width, height }: Placed, isRoot: boolean): Shape[] {
    const isJob = node.kind === "job";
    const text = (line: string, top: number, isBold: boolean): Text => ({
        shape: "text",
        x: x + 14,
        y: y + top,
        size: isBold ? 13 : 11,
        isBold,
        isCentered: false,
        fill: isBold ? INK : SOFT,
        text: line,
    });
    const lines = linesOf(node);
    const state = node.details?.state;
    return [
        {
            shape: "box",
            x,
            y,
            width,
            height,
            radius: isJob ? 18 : 6,
            fill: isJob ? "#fdf7e8" : "#ffffff",
            stroke: isRoot ? "#0b5d85" : isJob ? "#d9c48f" : "#7b8c97",
            title: visible(`${node.kind} ${node.name} in ${node.namespace}`),
        },
        ...lines.map((line, index) => text(line, 22 + index * LINE, true)),
        text([typeWords(node), state].filter((word) => word !== undefined).join(", "), 22 + lines.length * LINE, false),
    ];
}

/** The name of a node as lines that fit into its box, broken where it has dividers; of a long one, the beginning and the end. */
function linesOf(node: PictureNode): string[] {
    const lines = [""];
    for (const part of breakable(elided(visible(shortName(node)), 3 * LINE_LENGTH - 6))) {
        for (let rest = Array.from(part); rest.length > 0; rest = rest.slice(LINE_LENGTH)) {
            const piece = rest.slice(0, LINE_LENGTH).join("");
            const last = lines.at(-1) ?? "";
            if (last !== "" && Array.from(last + piece).length > LINE_LENGTH) lines.push(piece);
            else lines[lines.length - 1] = last + piece;
        }
    }
    return lines;
}
