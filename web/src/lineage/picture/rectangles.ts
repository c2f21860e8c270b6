/** What a small map of a picture is drawn from. Pure. */

export interface Rectangle {
    x: number;
    y: number;
    width: number;
    height: number;
}

/** The least rectangle around others, wider on each side by a share of its longer side. */
export function boundsOf(rectangles: readonly Rectangle[], margin: number): Rectangle {
    let [left, top, right, bottom] = [Infinity, Infinity, -Infinity, -Infinity];
    for (const { x, y, width, height } of rectangles) {
        left = Math.min(left, x);
        top = Math.min(top, y);
        right = Math.max(right, x + width);
        bottom = Math.max(bottom, y + height);
    }
    const room = margin * Math.max(right - left, bottom - top);
    return { x: left - room, y: top - room, width: right - left + 2 * room, height: bottom - top + 2 * room };
}

/** All rectangles as one path of SVG. */
export function outline(rectangles: readonly Rectangle[]): string {
    return rectangles.map(({ x, y, width, height }) => `M${x} ${y}h${width}v${height}h${-width}z`).join("");
}
