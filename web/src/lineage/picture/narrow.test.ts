import { describe, expect, test } from "vitest";

import { NO_FILTER } from "../../address/filter";
import { narrow, wordsOf } from "./narrow";
import type { Picture, PictureLink, PictureNode } from "./picture";

function node(id: string, kind: "dataset" | "job", details: Partial<PictureNode["details"]> = {}): PictureNode {
    return {
        id,
        kind,
        namespace: "ns",
        name: id,
        dropped: false,
        hidden: { upstream: 0, downstream: 0 },
        details: { system: "kafka", node_type: kind, display_name: id, ...details },
    };
}

function link(ends: string, more: Partial<PictureLink> = {}): PictureLink {
    const [source = "", target = ""] = ends.split(">");
    const usual = {
        origin: "observed",
        evidence: "explicit",
        label: "current",
        liveness: "",
        onlyFailed: false,
        via: [],
    };
    return { id: ends, source, target, ...usual, ...more };
}

const PICTURE: Picture = {
    nodes: [
        node("a", "dataset", { system: "postgres", tags: ["pii"] }),
        node("cdc", "job", { state: "alive" }),
        node("b", "dataset"),
        node("query", "job", { state: "fail", system: "flink" }),
        node("c", "dataset", { tags: ["gold", "pii"] }),
        node("d", "dataset"),
    ],
    links: [
        link("a>cdc"),
        link("cdc>b", { origin: "declared" }),
        link("b>query"),
        link("query>c"),
        link("query>d", { label: "stale" }),
    ],
    columns: [],
    truncated: "",
    settling: false,
};
const ids = (picture: Picture) => [picture.nodes.map(({ id }) => id), picture.links.map(({ id }) => id)];
const narrowed = (filter: Partial<typeof NO_FILTER>, fold = false, rootId = "b") =>
    narrow(PICTURE, { filter: { ...NO_FILTER, ...filter }, fold, rootId });

describe("a narrowed picture", () => {
    test("without a filter is the whole one", () => {
        expect(narrowed({})).toEqual({
            ...PICTURE,
            links: [...PICTURE.links].sort((x, y) => (x.id < y.id ? -1 : 1)),
            hiddenNodes: 0,
        });
    });

    test("has one link in place of what lies between, as weak as its weakest part", () => {
        const found = narrowed({ type: ["dataset"] });
        expect(ids(found)).toEqual([
            ["a", "b", "c", "d"],
            ["a>b", "b>c", "b>d"],
        ]);
        expect(found.links[0]).toMatchObject({ origin: "declared", via: ["cdc"] });
        expect(found.links[2]).toMatchObject({ label: "stale", via: ["query"] });
        expect(found.hiddenNodes).toBe(2);
    });

    test("keeps its root, whatever is chosen, and leads through several", () => {
        const found = narrowed({ tag: ["pii"], system: ["postgres"] }, false, "d");
        expect(ids(found)).toEqual([["a", "d"], ["a>d"]]);
        expect(found.links[0]?.via).toEqual(["cdc", "b", "query"]);
    });

    test("has no link that is not of the chosen origin or state, and no node without a link", () => {
        expect(ids(narrowed({ origin: ["declared"] }))).toEqual([["cdc", "b"], ["cdc>b"]]);
        expect(ids(narrowed({ state: ["fail"] }))).toEqual([
            ["b", "query", "c", "d"],
            ["b>query", "query>c", "query>d"],
        ]);
        expect(ids(narrowed({ evidence: ["none"] }))).toEqual([["b"], []]);
    });

    test("folds a job with one input and one output, but not one that leads to more", () => {
        expect(ids(narrowed({}, true))[0]).toEqual(["a", "b", "query", "c", "d"]);
        const more = {
            ...PICTURE,
            nodes: PICTURE.nodes.map((item) =>
                item.id === "cdc" ? { ...item, hidden: { upstream: 1, downstream: 0 } } : item,
            ),
        };
        expect(narrow(more, { filter: NO_FILTER, fold: true, rootId: "b" }).hiddenNodes).toBe(0);
    });

    test("ends where what is hidden goes round in circles", () => {
        const circle = { ...PICTURE, links: [...PICTURE.links, link("c>query"), link("c>cdc")] };
        const found = narrow(circle, { filter: { ...NO_FILTER, system: ["postgres"] }, fold: false, rootId: "d" });
        expect(ids(found)).toEqual([["a", "d"], ["a>d"]]);
    });

    test("says where a job between too many ends would make too many links", () => {
        const many = Array.from({ length: 80 }, (_, index) => index);
        const hub: Picture = {
            ...PICTURE,
            nodes: [node("hub", "job"), ...many.flatMap((n) => [node(`i${n}`, "dataset"), node(`o${n}`, "dataset")])],
            links: many.flatMap((n) => [link(`i${n}>hub`), link(`hub>o${n}`)]),
        };
        const found = narrow(hub, { filter: { ...NO_FILTER, type: ["dataset"] }, fold: false, rootId: "i0" });
        expect(found.links).toHaveLength(5000);
        expect(found.truncated).not.toBe("");
    });
});

test("what can be chosen is what there is, with how often", () => {
    expect(wordsOf(PICTURE)).toEqual({
        system: [
            ["flink", 1],
            ["kafka", 4],
            ["postgres", 1],
        ],
        type: [
            ["dataset", 4],
            ["job", 2],
        ],
        tag: [
            ["gold", 1],
            ["pii", 2],
        ],
        origin: [
            ["declared", 1],
            ["observed", 4],
        ],
        evidence: [["explicit", 5]],
        state: [
            ["alive", 1],
            ["fail", 1],
        ],
    });
});
