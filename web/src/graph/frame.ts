/** Which part of a picture is shown first. Pure. */

import { getViewportForBounds, type Rect, type Viewport } from "@xyflow/react";

import type { Size } from "./useSize";

export interface FrameLimits {
    /** The least scale at which a whole picture can be read, and the largest one. */
    least: number;
    most: number;
    /** The scale of one that is too large to be read as a whole. */
    close: number;
}

/** The whole of a picture, or, if it could not be read like that, the part around its root, without showing what lies beside the picture. */
export function frameOf(
    bounds: Rect,
    root: Rect,
    { width, height }: Size,
    { least, most, close }: FrameLimits,
): Viewport {
    const isTooLarge = bounds.width * least > width * 0.94 || bounds.height * least > height * 0.9;
    if (!isTooLarge) return getViewportForBounds(bounds, width, height, least, most, 0.06);
    const x = width / 2 - (root.x + root.width / 2) * close;
    const y = height / 2 - (root.y + 40) * close;
    return { x: within(x, bounds.x, bounds.width, width, close), y, zoom: close };
}

/** Moves a picture that is wider than the frame so that it fills it. */
function within(x: number, start: number, length: number, frame: number, zoom: number): number {
    const margin = frame * 0.03;
    const [least, most] = [frame - margin - (start + length) * zoom, margin - start * zoom];
    return least > most ? x : Math.min(Math.max(x, least), most);
}
