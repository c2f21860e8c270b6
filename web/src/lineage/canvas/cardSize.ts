import { Position, type NodeHandle } from "@xyflow/react";

import type { Picture, PictureNode } from "../picture/picture";
import { UNSURE } from "../pulse/rates";

export const COLUMNS_SHOWN = 12;
export const CARD_WIDTH = 220;
export const ROW_HEIGHT = 24;
/** Below the last column of a card. */
const FOOT = 9;

/** What ranks of cards are apart so that there is room for the labels of links, in pixels: of each kind of label, the widest. */
const ROOM = { through: 200, lag: 184, silence: 168, rate: 120 };
/** The types of jobs that may have a lag. */
const LAGGING = new Set(["consumer_group", "streams_application"]);

/**
 * How far ranks of cards are apart, so that there is room for what is written on links: what they lead through, and, with the pulse on,
 * their rates, or since when nothing flows on them. Undefined: as usual.
 */
export function gapOf({ links, nodes }: Picture, isPulsed: boolean): number | undefined {
    if (links.some(({ via }) => via.length > 0)) return ROOM.through;
    if (!isPulsed) return undefined;
    if (nodes.some(({ details }) => LAGGING.has(details?.node_type ?? ""))) return ROOM.lag;
    return links.some(({ liveness }) => UNSURE.has(liveness)) ? ROOM.silence : ROOM.rate;
}

/** How tall a card is, without asking the browser. */
export function cardHeight(node: PictureNode, columns: number | undefined): number {
    const lines = Math.min(3, Math.max(1, Math.ceil(shortName(node).length / 20)));
    const rows = columns === undefined ? 0 : Math.min(columns, COLUMNS_SHOWN) + (columns > COLUMNS_SHOWN ? 1 : 0);
    return 48 + lines * 19 + rows * ROW_HEIGHT + (rows > 0 ? 9 : 0);
}

/**
 * Where links meet a card: at its sides, and, by the names of columns, at the rows of those that are given. The graph is told, so that it
 * need not make every card to find them.
 */
export function handlesOf(height: number, isDown: boolean, columns: readonly string[] = []): NodeHandle[] {
    const size = { width: 0, height: 0 };
    const [middle, centre] = [height / 2, CARD_WIDTH / 2];
    const shown = columns.slice(0, COLUMNS_SHOWN);
    const rows = shown.length + (columns.length > COLUMNS_SHOWN ? 1 : 0);
    return [
        isDown
            ? { type: "target", position: Position.Top, x: centre, y: 0, ...size }
            : { type: "target", position: Position.Left, x: 0, y: middle, ...size },
        isDown
            ? { type: "source", position: Position.Bottom, x: centre, y: height, ...size }
            : { type: "source", position: Position.Right, x: CARD_WIDTH, y: middle, ...size },
        ...shown.flatMap((field, row): NodeHandle[] => {
            const y = height - FOOT - (rows - row - 0.5) * ROW_HEIGHT;
            return [
                { id: `in:${field}`, type: "target", position: Position.Left, x: 0, y, ...size },
                { id: `out:${field}`, type: "source", position: Position.Right, x: CARD_WIDTH, y, ...size },
            ];
        }),
    ];
}

/** The name by which a node is known in its system. */
export function shortName(node: PictureNode): string {
    return node.details?.display_name ?? node.name;
}

/** Whether a name takes so many lines that, seen from afar, it has to be smaller than others to fit its card. */
export function isLong(node: PictureNode): boolean {
    return shortName(node).length > 34;
}

/** What a node is, and where: its type in words, and the host of its namespace. */
export function typeWords(node: PictureNode): string {
    const { details, members } = node;
    if (!details) return node.kind;
    if (members) return details.system;
    const plain = details.node_type.replaceAll("_", " ");
    const isPlain = details.node_type.startsWith("external") || details.node_type === "job";
    const words = isPlain ? `${details.system} ${plain.replace("external ", "")}` : plain;
    return node.dropped ? `${words}, dropped` : words;
}
