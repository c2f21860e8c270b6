/** The curves of links between cards, in the coordinates of the picture. Pure. */

import type { Point } from "../../graph/layout";

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

export function middleOf({ from, leaving, arriving, to }: Curve): Point {
    return {
        x: from.x * 0.125 + leaving.x * 0.375 + arriving.x * 0.375 + to.x * 0.125,
        y: from.y * 0.125 + leaving.y * 0.375 + arriving.y * 0.375 + to.y * 0.125,
    };
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
