import { expect, test } from "vitest";

import { boundsOf, outline } from "./rectangles";

const CARDS = [
    { x: 0, y: 10, width: 20, height: 10 },
    { x: 80, y: -10, width: 20, height: 10 },
];

test("bounds hold every rectangle, with room around them", () => {
    expect(boundsOf(CARDS, 0)).toEqual({ x: 0, y: -10, width: 100, height: 30 });
    expect(boundsOf(CARDS, 0.1)).toEqual({ x: -10, y: -20, width: 120, height: 50 });
});

test("rectangles are one path", () => {
    expect(outline(CARDS)).toBe("M0 10h20v10h-20zM80 -10h20v10h-20z");
    expect(outline([])).toBe("");
});
