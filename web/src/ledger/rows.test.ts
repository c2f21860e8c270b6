import { expect, test } from "vitest";

import { changesIn, csvRows } from "./rows";

const node = (name: string, kind: "dataset" | "job" = "dataset") => ({ id: name, kind, namespace: "n", name });
const side = { window: { runs: 1, rows: 2 }, baseline: { runs: 1, rows: 4 }, change: "less" };
const HOP = { source: node("a"), target: node("b"), job: node("j", "job"), read: side, written: side };
const MARKS = [
    { at: "2026-01-01T00:00:00Z", what: "failed" as const, node: node("j", "job") },
    { at: "2026-01-01T01:00:00Z", what: "failed" as const, node: node("j", "job") },
    { at: "2026-01-01T02:00:00Z", what: "schema" as const, node: node("b") },
    { at: "2026-01-01T03:00:00Z", what: "schema" as const, node: node("a") },
];

test("a hop has what changed at its job and at what it writes, and how often", () => {
    const changes = changesIn(MARKS, HOP);
    expect(changes).toHaveLength(2);
    expect(changes[0]).toMatch(/, 2 times$/);
    expect(changes[1]).toMatch(/^b /);
});

test("the rows of a ledger have a value for each head", () => {
    const [head, row] = csvRows([{ ...HOP, state: "alive", last_seen: "2026-01-01T04:00:00Z" }], () => ["x", "y"]);
    expect(row).toHaveLength(head?.length ?? 0);
    expect(row?.slice(-3)).toEqual(["alive", "2026-01-01T04:00:00Z", "x; y"]);
});
