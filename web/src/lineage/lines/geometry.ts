/** The curves of links between cards, in the coordinates of the picture. Pure. */

import type { Point } from "../../graph/layout";
import { COLUMN_GAP } from "../../graph/placement";

export interface Card extends Point {
    width: number;
    height: number;
}

/** A cubic curve from one card to another. */
export interface Curve {
    from: Point;
    leaving: Point;
    arriving: Point;
    to: Point;
}

const CURVATURE = 0.25;
/** So often is a curve halved to find a point of it: enough for a pixel of the largest picture. */
const HALVINGS = 16;

/** The curve of a link: from the right side of a card to the left one of the other, or downwards. The same as React Flow draws. */
export function curveOf(source: Card, target: Card, isDown: boolean): Curve {
    const from = isDown
        ? { x: source.x + source.width / 2, y: source.y + source.height }
        : { x: source.x + source.width, y: source.y + source.height / 2 };
    const to = isDown
        ? { x: target.x + target.width / 2, y: target.y }
        : { x: target.x, y: target.y + target.height / 2 };
    const reach = reachOf(isDown ? to.y - from.y : to.x - from.x);
    return {
        from,
        leaving: isDown ? { x: from.x, y: from.y + reach } : { x: from.x + reach, y: from.y },
        arriving: isDown ? { x: to.x, y: to.y - reach } : { x: to.x - reach, y: to.y },
        to,
    };
}

/** How far a curve goes on straight: half of the way, or, if it leads back, so far that it is seen to. */
function reachOf(distance: number): number {
    return distance >= 0 ? distance / 2 : CURVATURE * 25 * Math.sqrt(-distance);
}

export function middleOf(curve: Curve): Point {
    return pointOf(curve, 0.5);
}

/**
 * Where the label of a link stands: in the middle of its curve, or, if it passes a rank of cards, in the gap before the card that it leads
 * to, where no card can lie upon it. `gap`: how far ranks are apart.
 */
export function labelPlace(curve: Curve, isDown: boolean, gap = COLUMN_GAP): Point {
    const along = ({ x, y }: Point) => (isDown ? y : x);
    const end = along(curve.to);
    if (end - along(curve.from) <= 2 * gap) return middleOf(curve);
    let [near, far] = [0, 1];
    for (let step = 0; step < HALVINGS; step++) {
        const middle = (near + far) / 2;
        if (along(pointOf(curve, middle)) < end - gap / 2) near = middle;
        else far = middle;
    }
    return pointOf(curve, far);
}

/** The point of a cubic curve at a share of its way. */
function pointOf({ from, leaving, arriving, to }: Curve, share: number): Point {
    const rest = 1 - share;
    const shares = [rest ** 3, 3 * rest * rest * share, 3 * rest * share * share, share ** 3] as const;
    return {
        x: from.x * shares[0] + leaving.x * shares[1] + arriving.x * shares[2] + to.x * shares[3],
        y: from.y * shares[0] + leaving.y * shares[1] + arriving.y * shares[2] + to.y * shares[3],
    };
}

/** How far above a link its rate stands, in pixels: its width shows how much flows, too. */
export const ABOVE = 14;
/** How far a notch reaches over a link at either side, in pixels. */
const NOTCH = 5;

/** A short line across a link of a width, at the place of its label: where it begins and where it ends. */
export function notchOf({ x, y }: Point, width: number, isDown: boolean): [Point, Point] {
    const half = width / 2 + NOTCH;
    const [across, along] = isDown ? [half, 0] : [0, half];
    return [
        { x: x - across, y: y - along },
        { x: x + across, y: y + along },
    ];
}

/** Whether any of a curve may lie within a rectangle: a curve never leaves the box around its four points. */
export function isWithin({ from, leaving, arriving, to }: Curve, { x, y, width, height }: Card): boolean {
    return (
        Math.min(from.x, leaving.x, arriving.x, to.x) <= x + width &&
        Math.max(from.x, leaving.x, arriving.x, to.x) >= x &&
        Math.min(from.y, leaving.y, arriving.y, to.y) <= y + height &&
        Math.max(from.y, leaving.y, arriving.y, to.y) >= y
    );
}
