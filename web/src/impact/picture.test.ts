import { expect, test } from "vitest";

import type { Schemas } from "../api/client";
import { groupsOf, pictureOfImpact, rootIds, type Affected } from "./picture";

function item(name: string, kind: string, system: string, owners?: string[]): Affected {
    const details = { system, node_type: "t", display_name: name, ...(owners ? { owners } : {}) };
    return { node: { id: name, kind, namespace: "ns", name }, distance: 1, extent: "all", details };
}

const ITEMS = [
    item("b", "dataset", "kafka", ["x"]),
    item("j", "job", "flink"),
    item("c", "dataset", "kafka", ["x", "y"]),
    item("d", "dataset", "s3"),
];

test("rows are grouped each once, the largest group first, with counts", () => {
    const seen = (by: "system" | "owner") =>
        groupsOf(ITEMS, by).map(({ word, items, datasets, jobs }) => [
            word,
            items.map(({ node }) => node.id),
            datasets,
            jobs,
        ]);
    expect(seen("system")).toEqual([
        ["kafka", ["b", "c"], 2, 0],
        ["flink", ["j"], 0, 1],
        ["s3", ["d"], 1, 0],
    ]);
    expect(seen("owner")).toEqual([
        ["", ["j", "d"], 1, 1],
        ["x", ["b"], 1, 0],
        ["x, y", ["c"], 1, 0],
    ]);
});

test("a picture has every row and every root, and the flows between them", () => {
    const root = { id: "alias", canonical: "a", kind: "dataset", namespace: "ns", name: "a" };
    const answer: Schemas["ImpactAnswer"] = {
        ...{
            origin: root,
            origins: [root],
            direction: "downstream",
            depth: 50,
            affected: ITEMS,
            truncated: "",
            hidden: 0,
        },
        ...{ counts: { datasets: 3, jobs: 1, all: 4, some: 0 }, resolution: "exact", settling: false, position: "" },
        flows: [
            { source: "a", target: "b", job: "j", origin: "declared" },
            { source: "a", target: "c", job: "j", origin: "observed" },
            { source: "c", target: "d", job: "d", origin: "observed" },
            { source: "d", target: "unlisted", job: "j", origin: "observed" },
        ],
    };
    const picture = pictureOfImpact(answer);
    expect(rootIds(answer)).toEqual(["a"]);
    expect(picture.nodes.map(({ id }) => id)).toEqual(["a", "b", "c", "d", "j"]);
    expect(picture.links.map(({ id, origin }) => [id, origin])).toEqual([
        ["a>j", "declared"],
        ["c>d", "observed"],
        ["j>b", "declared"],
        ["j>c", "observed"],
    ]);
});
