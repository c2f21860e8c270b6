import { expect, test } from "vitest";

import { traceOf } from "../address/trace";
import type { Schemas } from "../api/client";
import { doubts, report } from "./report";

const node = (id: string, kind: string, name: string) => ({ id, kind, namespace: "ns", name });
const NODES = [node("1", "dataset", "raw`s"), node("2", "dataset", "clean"), node("3", "job", "hash")];
const ANSWER = {
    ...{ origin: NODES[0], field: "email", direction: "downstream", depth: 20, nodes: NODES, columns: [] },
    flows: [
        {
            ...{ source: "1", source_field: "email", target: "2", target_field: "hash", job: "3", origin: "observed" },
            transformations: [{ type: "DIRECT", subtype: "TRANSFORMATION", masking: true }],
            ...{ masked: true, indirect: false, descriptions: [] },
        },
    ],
    kept: [{ node: "1", owners: ["team:a", "b`c"], retention: "7 days" }, { node: "2" }],
    coverage: { told: 1, untold: 1, gaps: [{ source: "1", target: "2", job: "3", origin: "observed", evidence: "" }] },
    ...{ truncated: "", hidden: 0, resolution: "exact", settling: false, position: "", digest: "ab".repeat(32) },
} as unknown as Schemas["TraceAnswer"];

test("a report has the question, the time, each step, what is not known, and the digest", () => {
    const plain = traceOf({ kind: "dataset", namespace: "ns", name: "raw`s" }, "email", "downstream");
    const view = { ...plain, at: "2026-05-01T00:00:00Z" };
    const lines = report(view, ANSWER, "http://host/view").split("\n");
    expect(lines).toEqual([
        "**Where it goes:** `email` of `raw's` in `ns`",
        "As of 2026-05-01T00:00:00Z",
        "",
        "- `email` of `raw's` in `ns` → `hash` of `clean` in `ns`, by `hash` in `ns`: direct transformation, masked",
        "",
        "- `raw's` in `ns`: owner `team:a, b'c`, kept `7 days`",
        "- `clean` in `ns`: owner `unknown`, kept `unknown`",
        "",
        "1 of 2 flows on the way have column evidence.",
        "- no column evidence: `raw's` in `ns` → `clean` in `ns`, by `hash` in `ns`",
        `SHA-256 of the answer: ${"ab".repeat(32)}`,
        "http://host/view",
        "",
    ]);
    expect(report({ ...view, at: "2026-04-01T00:00:00Z", indirect: true }, ANSWER, "")).toContain(
        "As of 2026-04-01T00:00:00Z, with filters and join keys",
    );
});

test("a report says where its answer may differ later", () => {
    const view = { ...traceOf({ kind: "dataset", namespace: "ns", name: "raw`s" }, "email", "downstream"), at: "2026" };
    const text = report(view, { ...ANSWER, resolution: "day", settling: true }, "");
    expect(text).toContain("It is exact to the day");
    expect(text).toContain("Some values are still being derived.");
    expect(doubts(ANSWER)).toEqual([]);
});
