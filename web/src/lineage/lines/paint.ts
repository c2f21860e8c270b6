/** Paints links on a canvas: those in sight, one stroke for all that look alike. */

import type { Point } from "../../graph/layout";
import type { Flow } from "../pulse/rates";
import { ABOVE, isWithin, notchOf, type Curve } from "./geometry";
import type { Look, Looks } from "./looks";

export interface Line {
    id: string;
    curve: Curve;
    /** Whether it leads downwards; otherwise to the right. */
    isDown: boolean;
    /** What its look depends on, as the style sheets call it. */
    classes: string;
    /** What is written on it without a pulse; empty if nothing is. */
    label: string;
    /** The middle of what is written on it. */
    labelled: Point;
}

export interface Sight {
    /** Pixels of the screen: of the picture's origin, and the size of the stage. */
    x: number;
    y: number;
    width: number;
    height: number;
    scale: number;
}

export interface Ink {
    text: string;
    ground: string;
    border: string;
    /** Of the short lines across links whose readers stand still at some partitions. */
    notch: string;
    font: string;
}

/** The least scale at which labels can be read. */
const WRITTEN = 0.45;
const ARROW_LENGTH = 7.5;
const ARROW_WIDTH = 6;
const NOTCH_WIDTH = 3;

export function paint(
    context: CanvasRenderingContext2D,
    lines: readonly Line[],
    flowOf: (id: string) => Flow | undefined,
    { x, y, width, height, scale }: Sight,
    looks: Looks,
    ink: Ink,
): void {
    const density = context.canvas.width / width;
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.clearRect(0, 0, context.canvas.width, context.canvas.height);
    context.setTransform(density * scale, 0, 0, density * scale, density * x, density * y);
    const seen = { x: -x / scale, y: -y / scale, width: width / scale, height: height / scale };
    const alike = new Map<string, { look: Look; curves: Curve[] }>();
    const labels: [string, Point][] = [];
    const notches: [Point, Point][] = [];
    for (const line of lines) {
        if (!isWithin(line.curve, seen)) continue;
        const flow = flowOf(line.id);
        const found = looks.of(line.classes, flow?.tone ?? "");
        const look = flow ? { ...found, width: Math.max(flow.width, scale < WRITTEN ? found.width : 0) } : found;
        const key = JSON.stringify(look);
        const group = alike.get(key);
        if (group) group.curves.push(line.curve);
        else alike.set(key, { look, curves: [line.curve] });
        const label = flow && flow.label !== "" ? flow.label : line.label;
        if (label !== "" && scale >= WRITTEN) {
            const { x, y } = line.labelled;
            labels.push([label, { x, y: flow ? y - ABOVE : y }]);
        }
        if (flow?.lag?.stuck) notches.push(notchOf(line.labelled, look.width, line.isDown));
    }
    for (const { look, curves } of alike.values()) stroke(context, look, curves);
    write(context, labels, ink);
    notch(context, notches, ink);
}

function stroke(context: CanvasRenderingContext2D, look: Look, curves: readonly Curve[]): void {
    context.globalAlpha = look.opacity;
    context.strokeStyle = context.fillStyle = look.stroke;
    context.lineWidth = look.width;
    context.lineCap = look.isRound ? "round" : "butt";
    context.setLineDash(look.dashes);
    context.beginPath();
    for (const { from, leaving, arriving, to } of curves) {
        context.moveTo(from.x, from.y);
        context.bezierCurveTo(leaving.x, leaving.y, arriving.x, arriving.y, to.x, to.y);
    }
    context.stroke();
    context.beginPath();
    const size = Math.max(1, look.width / 2);
    for (const { arriving, to } of curves) {
        const length = Math.hypot(to.x - arriving.x, to.y - arriving.y) || 1;
        const [dx, dy] = [((to.x - arriving.x) / length) * size, ((to.y - arriving.y) / length) * size];
        context.moveTo(to.x, to.y);
        context.lineTo(to.x - dx * ARROW_LENGTH - dy * ARROW_WIDTH, to.y - dy * ARROW_LENGTH + dx * ARROW_WIDTH);
        context.lineTo(to.x - dx * ARROW_LENGTH + dy * ARROW_WIDTH, to.y - dy * ARROW_LENGTH - dx * ARROW_WIDTH);
        context.closePath();
    }
    context.fill();
}

function notch(context: CanvasRenderingContext2D, notches: readonly [Point, Point][], ink: Ink): void {
    context.globalAlpha = 1;
    context.strokeStyle = ink.notch;
    context.lineWidth = NOTCH_WIDTH;
    context.lineCap = "butt";
    context.setLineDash([]);
    context.beginPath();
    for (const [from, to] of notches) {
        context.moveTo(from.x, from.y);
        context.lineTo(to.x, to.y);
    }
    context.stroke();
}

function write(context: CanvasRenderingContext2D, labels: readonly [string, Point][], ink: Ink): void {
    context.globalAlpha = 1;
    context.font = ink.font;
    context.textAlign = "center";
    context.textBaseline = "middle";
    context.lineWidth = 1;
    context.setLineDash([]);
    context.strokeStyle = ink.border;
    for (const [label, { x, y }] of labels) {
        const width = context.measureText(label).width + 12;
        context.beginPath();
        context.roundRect(x - width / 2, y - 10, width, 20, 6);
        context.fillStyle = ink.ground;
        context.fill();
        context.stroke();
        context.fillStyle = ink.text;
        context.fillText(label, x, y);
    }
}
