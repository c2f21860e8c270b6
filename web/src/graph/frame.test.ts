import { expect, test } from "vitest";

import { frameOf } from "./frame";

const LIMITS = { least: 0.4, most: 1.15, close: 0.72 };
const SIZE = { width: 1000, height: 800 };
const ROOT = { x: 0, y: 0, width: 220, height: 86 };

test("a small picture is shown whole, in the middle, and no larger than it may be", () => {
    const { x, y, zoom } = frameOf({ x: -100, y: -50, width: 400, height: 200 }, ROOT, SIZE, LIMITS);
    expect(zoom).toBe(1.15);
    expect(x + 100 * zoom).toBeCloseTo(500);
    expect(y + 50 * zoom).toBeCloseTo(400);
});

test("a large picture is shown from its root, at a scale at which it can be read", () => {
    const { x, y, zoom } = frameOf(
        { x: 0, y: 0, width: 9_000, height: 500 },
        { ...ROOT, x: 4_000, y: 200 },
        SIZE,
        LIMITS,
    );
    expect(zoom).toBe(0.72);
    expect(x + 4_110 * zoom).toBeCloseTo(500);
    expect(y + 240 * zoom).toBeCloseTo(400);
    expect(frameOf({ x: 0, y: 0, width: 500, height: 9_000 }, ROOT, SIZE, LIMITS).zoom).toBe(0.72);
});

test("a wide picture whose root is at its side fills the frame", () => {
    const bounds = { x: 0, y: 0, width: 4_000, height: 86 };
    expect(frameOf(bounds, ROOT, SIZE, LIMITS).x).toBeCloseTo(30);
    expect(frameOf(bounds, { ...ROOT, x: 3_780 }, SIZE, LIMITS).x).toBeCloseTo(1000 - 30 - 4_000 * 0.72);
});
