import { getBezierPath, Position } from "@xyflow/react";
import { describe, expect, test } from "vitest";

import { curveOf, isWithin, labelPlace, middleOf } from "./geometry";

const card = (x: number, y: number) => ({ x, y, width: 220, height: 86 });

describe("a curve", () => {
    test.each([
        ["to the right", card(0, 0), card(400, 130)],
        ["back", card(900, 40), card(0, 400)],
    ])("that leads %s is the one that React Flow draws", (_, source, target) => {
        for (const isDown of [false, true]) {
            const { from, leaving, arriving, to } = curveOf(source, target, isDown);
            const [path, x, y] = getBezierPath({
                sourceX: from.x,
                sourceY: from.y,
                targetX: to.x,
                targetY: to.y,
                sourcePosition: isDown ? Position.Bottom : Position.Right,
                targetPosition: isDown ? Position.Top : Position.Left,
            });
            const points = [from, leaving, arriving, to].map((point) => `${point.x},${point.y}`);
            expect(path).toBe(`M${points[0]} C${points.slice(1).join(" ")}`);
            expect(middleOf({ from, leaving, arriving, to })).toEqual({ x, y });
        }
    });

    test("has its label in its middle, if it leads to the next rank or back", () => {
        for (const curve of [curveOf(card(0, 0), card(340, 130), false), curveOf(card(340, 0), card(0, 300), false)]) {
            expect(labelPlace(curve, false, 120)).toEqual(middleOf(curve));
        }
    });

    test("that passes ranks has its label on it, in the gap before the card that it leads to", () => {
        const right = labelPlace(curveOf(card(0, 0), card(1020, 300), false), false, 120);
        expect(right.x).toBeCloseTo(1020 - 60, 0);
        expect(right.y).toBeGreaterThan(300);
        expect(right.y).toBeLessThan(300 + 43);
        const down = labelPlace(curveOf(card(0, 0), card(300, 438), true), true, 60);
        expect(down.y).toBeCloseTo(438 - 30, 0);
        expect(down.x).toBeLessThan(300 + 110);
    });

    test("is seen where it passes, and nowhere else", () => {
        const curve = curveOf(card(0, 0), card(2000, 0), false);
        expect(isWithin(curve, { x: 900, y: 0, width: 100, height: 100 })).toBe(true);
        expect(isWithin(curve, { x: 900, y: 50, width: 100, height: 100 })).toBe(false);
        expect(isWithin(curve, { x: 2100, y: 0, width: 100, height: 100 })).toBe(false);
    });
});
