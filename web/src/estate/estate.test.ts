import { describe, expect, test } from "vitest";

import type { Schemas } from "../api/client";
import { estateRows, flowWidth, flowWords, itemsOf, jobWords, labelOf, leftOutWords, type EstateNode } from "./estate";

function node(id: string, system: string, environment: string, more: Partial<EstateNode> = {}): EstateNode {
    return { id, system, environment, datasets: 2, namespaces: 1, largest: [], readers: 0, writers: 0, ...more };
}

const ANSWER: Schemas["EstateAnswer"] = {
    scale: "environment",
    nodes: [
        node("k", "kafka", "kafka://broker:9092", { readers: 1, writers: 3 }),
        node("s", "s3", "s3://lake"),
        node("o", "", "(others)", { datasets: 9 }),
        node("e", "", ""),
    ],
    flows: [
        { source: "k", target: "k", jobs: 4, direct: 0 },
        { source: "k", target: "s", jobs: 1, direct: 2 },
        { source: "s", target: "o", jobs: 5, direct: 0 },
    ],
    flows_left_out: 0,
    others: 7,
    settling: false,
    position: "",
};

describe("the estate", () => {
    const items = itemsOf(ANSWER);

    test("names its nodes without a hidden character", () => {
        const [item] = itemsOf({ ...ANSWER, flows: [], nodes: [node("k", "ka\u202Efka", "ka\u202Efka:evil\u200B")] });
        expect(item && labelOf(item)).toBe("evil⟨U+200B⟩, ka⟨U+202E⟩fka, 2 datasets");
    });

    test("says how much it leaves out", () => {
        const words = [1, 1200].map((rest) => leftOutWords({ ...ANSWER, flows_left_out: rest }));
        expect(words).toEqual([
            "These are the 3 largest flows; 1 more is not shown.",
            "These are the 3 largest flows; 1,200 more are not shown.",
        ]);
    });

    test("has each flow at both its ends, and what stays inside on its own", () => {
        expect(
            items.map(({ inside, from, to }) => [
                inside?.jobs,
                from.map(({ source }) => source),
                to.map(({ target }) => target),
            ]),
        ).toEqual([
            [4, [], ["s"]],
            [undefined, ["k"], ["o"]],
            [undefined, ["s"], []],
            [undefined, [], []],
        ]);
    });

    test("names environments without their system", () => {
        expect(items.map(({ title }) => title)).toEqual(["broker:9092", "lake", "7 others", ""]);
        const titles = itemsOf({
            ...ANSWER,
            nodes: [node("a", "kafka", ""), node("b", "a.b(", "a.b(://c"), node("c", "ns", "ns")],
        });
        expect(titles.map(({ title }) => title)).toEqual(["kafka", "c", "ns"]);
    });

    test("says how many jobs there are", () => {
        expect(jobWords(items[0] ?? fail())).toEqual(["4 jobs inside", "1 job only reads", "3 jobs only write"]);
        expect(flowWords({ jobs: 1, direct: 2 })).toBe("1 job, 2 without a job");
    });

    test("draws more jobs wider, and never too wide", () => {
        const width = (jobs: number, most = jobs) => flowWidth({ source: "a", target: "b", jobs, direct: 0 }, most);
        expect([width(1), width(1, 400), width(400)]).toEqual([1.5, 1.5, 6.5]);
        expect(width(20, 400)).toBeCloseTo(4);
    });

    test("is the same in rows: each flow, each count of jobs, and who has neither", () => {
        const [head, ...rows] = estateRows(items);
        expect(head).toHaveLength(8);
        expect(rows).toEqual([
            ["kafka", "kafka://broker:9092", 2, "kafka", "kafka://broker:9092", 2, 4, 0],
            ["kafka", "kafka://broker:9092", 2, "s3", "s3://lake", 2, 1, 2],
            ["kafka", "kafka://broker:9092", 2, "", "", "", 1, 0],
            ["", "", "", "kafka", "kafka://broker:9092", 2, 3, 0],
            ["s3", "s3://lake", 2, "", "(others)", 9, 5, 0],
            ["", "", 2, "", "", "", 0, 0],
        ]);
    });
});

function fail(): never {
    throw new Error("there is no item");
}
