import { expect, test } from "vitest";

import { keepOnly } from "./keep";
import type { Picture } from "./picture";

function pictured(...links: [string, string][]): Picture {
    const ids = [...new Set(links.flat())].sort();
    return {
        nodes: ids.map((id) => ({
            ...{ id, kind: "dataset", namespace: "ns", name: id, details: undefined, dropped: false },
            hidden: { upstream: 0, downstream: 0 },
        })),
        links: links.map(([source, target]) => ({
            ...{ id: `${source}>${target}`, source, target, origin: "observed", evidence: "", label: "current" },
            ...{ liveness: "", onlyFailed: false, via: [] },
        })),
        columns: [
            { source: "a", sourceField: "x", target: "b", targetField: "x", job: "j", masked: false },
            { source: "b", sourceField: "x", target: "c", targetField: "x", job: "j", masked: false },
        ],
        truncated: "",
        settling: false,
    };
}

const PICTURE = pictured(["a", "b"], ["b", "c"], ["c", "b"], ["c", "d"], ["x", "d"], ["a", "y"]);

test("what is upstream of a node is kept with it, through cycles", () => {
    const kept = keepOnly(PICTURE, { id: "c", direction: "upstream" });
    expect(kept.nodes.map(({ id }) => id)).toEqual(["a", "b", "c"]);
    expect(kept.links.map(({ id }) => id)).toEqual(["a>b", "b>c", "c>b"]);
    expect(kept.columns).toHaveLength(2);
});

test("what is downstream of a node is kept with it", () => {
    const kept = keepOnly(PICTURE, { id: "b", direction: "downstream" });
    expect(kept.nodes.map(({ id }) => id)).toEqual(["b", "c", "d"]);
    expect(kept.columns.map(({ source }) => source)).toEqual(["b"]);
});

test("without a node, or with one that is not there, everything is kept", () => {
    expect(keepOnly(PICTURE, undefined)).toBe(PICTURE);
    expect(keepOnly(PICTURE, { id: "z", direction: "upstream" })).toBe(PICTURE);
});
