import { describe, expect, test } from "vitest";

import { layOut, type Link } from "./layout";

const boxes = (count: number) =>
    Array.from({ length: count }, (_, index) => ({ id: `n${index}`, width: 100, height: 30 + (index % 4) * 10 }));

/** Links of a graph that is the same each time: `count` nodes, about `each` links of each to later ones, and some back. */
function links(count: number, each: number, back = 0): Link[] {
    let state = 42;
    const random = (below: number) => (state = (state * 1103515245 + 12345) % 2147483648) % below;
    const forward = Array.from({ length: count * each }, () => {
        const source = random(count - 1);
        return { source: `n${source}`, target: `n${source + 1 + random(Math.min(12, count - source - 1))}` };
    });
    const backward = Array.from({ length: back }, () => ({ source: `n${1 + random(count - 1)}`, target: "n0" }));
    return [...forward, ...backward];
}

describe("a layout", () => {
    test.each([
        [1, 0, 0],
        [12, 1, 0],
        [60, 2, 4],
        [300, 2, 9],
    ])("of %i boxes places each, none upon another, and data goes to the right", (count, each, back) => {
        const request = { boxes: boxes(count), links: count > 1 ? links(count, each, back) : [], before: {} };
        const { positions, reversed } = layOut(request);
        const placed = request.boxes.map((box) => ({ ...box, ...(positions[box.id] ?? { x: NaN, y: NaN }) }));
        expect(placed.every(({ x, y }) => Number.isFinite(x) && Number.isFinite(y))).toBe(true);
        for (const a of placed) {
            for (const b of placed) {
                if (a.id < b.id) {
                    const apart =
                        a.x + a.width <= b.x || b.x + b.width <= a.x || a.y + a.height <= b.y || b.y + b.height <= a.y;
                    expect(apart, `${a.id} and ${b.id}`).toBe(true);
                }
            }
        }
        const turned = new Set(reversed.map(({ source, target }) => `${source}>${target}`));
        for (const { source, target } of request.links) {
            const isBack = turned.has(`${source}>${target}`);
            const [left, right] = isBack ? [target, source] : [source, target];
            expect((positions[left] ?? { x: 0 }).x).toBeLessThan((positions[right] ?? { x: 0 }).x);
        }
        expect(layOut(request)).toEqual({ positions, reversed });
    });

    test("of a cycle turns one link round", () => {
        const cycle = [
            { source: "n0", target: "n1" },
            { source: "n1", target: "n2" },
            { source: "n2", target: "n0" },
        ];
        expect(layOut({ boxes: boxes(3), links: cycle, before: {} }).reversed).toEqual([
            { source: "n2", target: "n0" },
        ]);
    });

    test("that goes down is one to the right, turned", () => {
        const request = { boxes: boxes(12), links: links(12, 1), before: {}, down: true };
        const { positions, reversed } = layOut(request);
        const turned = new Set(reversed.map(({ source, target }) => `${source}>${target}`));
        for (const { source, target } of request.links) {
            const [above, below] = turned.has(`${source}>${target}`) ? [target, source] : [source, target];
            const height = request.boxes.find(({ id }) => id === above)?.height ?? 0;
            expect((positions[above]?.y ?? NaN) + height).toBeLessThanOrEqual(positions[below]?.y ?? NaN);
        }
    });

    test("keeps the order of what was there when it grows", () => {
        const first = layOut({
            boxes: boxes(4),
            links: ["n1", "n2", "n3"].map((target) => ({ source: "n0", target })),
            before: {},
        });
        const turned = Object.fromEntries(Object.entries(first.positions).map(([id, { x, y }]) => [id, { x, y: -y }]));
        const grown = layOut({
            boxes: boxes(5),
            links: ["n1", "n2", "n3", "n4"].map((target) => ({ source: "n0", target })),
            before: turned,
        });
        const order = ["n1", "n2", "n3"].sort((a, b) => (grown.positions[a]?.y ?? 0) - (grown.positions[b]?.y ?? 0));
        expect(order).toEqual(["n3", "n2", "n1"]);
    });
});
