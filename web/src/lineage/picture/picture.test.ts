import { expect, test } from "vitest";

import type { Schemas } from "../../api/client";
import { pictureOf, relatedColumns } from "./picture";

type Answer = Schemas["NeighbourhoodAnswer"];

const node = (id: string, kind: string, more: Partial<Schemas["WalkNode"]> = {}): Schemas["WalkNode"] => ({
    id,
    kind,
    namespace: "ns",
    name: id,
    ...more,
});
const edge = (
    source: string,
    job: string,
    target: string,
    more: Partial<Schemas["GraphEdge"]> = {},
): Schemas["GraphEdge"] => ({
    source,
    target,
    job,
    origin: "observed",
    evidence: "explicit",
    label: "current",
    ...more,
});
const answer = (parts: Partial<Answer>): Answer => ({
    origin: node("a", "dataset"),
    members: [],
    direction: "both",
    depth: 1,
    nodes: [],
    edges: [],
    ports: [],
    columns: [],
    truncated: "",
    hidden: 0,
    settling: false,
    position: "",
    ...parts,
});

test("names of one dataset are one node, and a flow leads through its job", () => {
    const picture = pictureOf([
        answer({
            nodes: [
                node("a", "dataset"),
                node("b", "dataset"),
                node("b2", "dataset", { canonical: "b" }),
                node("j", "job"),
            ],
            edges: [edge("a", "j", "b"), edge("a", "j", "b2", { label: "stale" })],
        }),
    ]);
    expect(picture.nodes.map(({ id }) => id)).toEqual(["a", "b", "j"]);
    expect(picture.links.map(({ id, label }) => [id, label])).toEqual([
        ["a>j", "current"],
        ["j>b", "current"],
    ]);
});

test("what another answer shows is not hidden any more", () => {
    const nodes = [
        node("a", "dataset"),
        node("b", "dataset", { beyond: { upstream: 0, downstream: 1 } }),
        node("j", "job"),
    ];
    const first = answer({ nodes, edges: [edge("a", "j", "b")] });
    expect(pictureOf([first]).nodes.find(({ id }) => id === "b")?.hidden.downstream).toBe(1);
    const more = answer({
        origin: node("b", "dataset"),
        nodes: [node("b", "dataset"), node("c", "dataset"), node("k", "job")],
        edges: [edge("b", "k", "c")],
    });
    expect(pictureOf([first, more]).nodes.find(({ id }) => id === "b")?.hidden.downstream).toBe(0);
});

test("the columns of a column's way are found in both directions, and no others", () => {
    const flow = (source: string, sourceField: string, target: string, targetField: string) => ({
        ...{ source, sourceField, target, targetField },
        ...{ job: "j", masked: false },
    });
    const flows = [
        flow("a", "x", "b", "y"),
        flow("a", "other", "b", "y"),
        flow("b", "y", "c", "z"),
        flow("b", "w", "c", "z"),
    ];
    expect([...relatedColumns(flows, { node: "b", field: "y" })].sort()).toEqual(["a:other", "a:x", "b:y", "c:z"]);
    expect([...relatedColumns(flows, { node: "a", field: "x" })].sort()).toEqual(["a:x", "b:y", "c:z"]);
});
