import { expect, test } from "vitest";

import { changesIn, collectorName, collectorWords, csvRows } from "./rows";

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
    expect(row?.slice(-9, -6)).toEqual(["alive", "2026-01-01T04:00:00Z", "x; y"]);
});

test("the rows of a ledger have the lag, what would measure a side, and the pages of consoles", () => {
    const lag = { at: "2026-01-01T04:00:00Z", rows: 5, drain_s: 2.5, stuck: { partitions: 1, worst: 0, rows: 4 } };
    const consoles = ["u", "v"].map((url) => ({ node: "a", title: "t", url }));
    const read = { ...side, collector: "kafka" };
    const [head, row] = csvRows([{ ...HOP, read, lag, lag_collector: "flink", consoles }], () => []);
    const named = new Map(head?.map((name, index) => [name, row?.[index]]));
    expect(["unread", "seconds_to_read", "partitions_stuck"].map((name) => named.get(name))).toEqual([5, 2.5, 1]);
    expect(
        ["read_collector", "written_collector", "unread_collector", "consoles"].map((name) => named.get(name)),
    ).toEqual(["kafka", undefined, "flink", "u v"]);
});

test("what would measure a side has a name, and a reason", () => {
    expect([collectorName("kafka"), collectorName("producer")]).toEqual(["a kafka source", "its own events"]);
    expect(collectorWords("kafka")).toContain("kind kafka");
    expect(collectorWords("producer")).toContain("inputStatistics");
});
