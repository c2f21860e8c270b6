import { describe, expect, test } from "vitest";

import { waysFrom } from "./ways";

function flow(source: string, job: string, target: string, origin = "observed") {
    return { source, target, job, origin };
}

const FLOWS = [
    flow("a", "j1", "b"),
    flow("b", "j2", "d", "declared"),
    flow("c", "j3", "d"),
    flow("d", "d", "e", "inferred"),
    flow("e", "reader", "reader"),
    flow("j9", "j9", "b"),
    flow("e", "back", "a"),
];

describe("the way to what is affected", () => {
    const wayTo = waysFrom(["a"], FLOWS, true);

    test("leads through jobs, and names the weakest origin on it", () => {
        expect(wayTo("d")).toEqual({
            nodes: ["d", "j2", "b", "j1", "a"],
            links: ["j2>d", "b>j2", "j1>b", "a>j1"],
            origin: "declared",
        });
    });

    test("of a job ends at it", () => {
        expect(wayTo("j2")).toEqual({
            nodes: ["j2", "b", "j1", "a"],
            links: ["b>j2", "j1>b", "a>j1"],
            origin: "declared",
        });
        expect(wayTo("reader")?.links.slice(0, 2)).toEqual(["e>reader", "d>e"]);
    });

    test("is there for nothing that is not reached, and not for a root, also in a cycle", () => {
        expect(wayTo("c")).toBeUndefined();
        expect(wayTo("a")).toBeUndefined();
        expect(wayTo("back")?.nodes).toEqual(["back", "e", "d", "j2", "b", "j1", "a"]);
    });

    test("is the shortest from any of several roots", () => {
        const wayTo = waysFrom(["a", "c", "j9"], FLOWS, true);
        expect(wayTo("d")).toEqual({ nodes: ["d", "j3", "c"], links: ["j3>d", "c>j3"], origin: "observed" });
        expect(waysFrom(["j9"], FLOWS, true)("b")).toEqual({ nodes: ["b", "j9"], links: ["j9>b"], origin: "observed" });
    });

    test("goes against the data upstream, with the links as they are drawn", () => {
        expect(waysFrom(["d"], FLOWS, false)("a")).toEqual({
            nodes: ["a", "j1", "b", "j2", "d"],
            links: ["a>j1", "j1>b", "b>j2", "j2>d"],
            origin: "declared",
        });
    });
});
