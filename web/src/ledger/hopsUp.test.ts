import { expect, test } from "vitest";

import { hopsUp } from "./hopsUp";

const hop = (source: string, target: string) => ({
    source: { id: source, kind: "dataset" as const, namespace: "n", name: source },
    target: { id: target, kind: "dataset" as const, namespace: "n", name: target },
});

test("the hops between two nodes are counted upwards, also around a cycle", () => {
    const hops = [hop("a", "b"), hop("b", "c"), hop("c", "b"), hop("c", "d"), hop("b", "d")];
    expect(["d", "c", "b", "a", "x"].map((to) => hopsUp(hops, "d", to))).toEqual([0, 1, 1, 2, 0]);
});
