import { expect, test } from "vitest";

import type { Schemas } from "../api/client";
import { heldRows, leftOut } from "./held";

const node = (id: string, name: string) => ({ id, kind: "dataset", namespace: "ns", name });
const ANSWER = {
    nodes: [node("1", "raw"), node("2", "clean"), node("3", "hashes"), node("4", "old")],
    kept: [{ node: "1", owners: ["team:a"], retention: "7 days" }, { node: "2" }, { node: "3" }, { node: "4" }],
    held: [
        { node: "1", system: "kafka", fields: ["email"], last_written: "2026-05-01T00:00:00Z" },
        { node: "2", system: "postgres", fields: ["", "mail"] },
        { node: "3", system: "postgres", left_out: "masked" },
        { node: "4", system: "postgres", left_out: "dropped" },
    ],
    hidden_ended: 2,
} as unknown as Schemas["TraceAnswer"];

test("a file of where values are has no dataset without them", () => {
    expect(heldRows(ANSWER).slice(1)).toEqual([
        ["kafka", "ns", "raw", "email", "team:a", "7 days", "2026-05-01T00:00:00Z"],
        ["postgres", "ns", "clean", "(column not known), mail", "unknown", "unknown", undefined],
    ]);
});

test("what is left out is counted, each reason apart", () => {
    expect(leftOut(ANSWER)).toEqual([
        "1 dataset left out: reached by masked values alone.",
        "1 dataset left out: dropped.",
        "2 flows that ended not followed: what went through them earlier may still be there.",
    ]);
    expect(leftOut({ held: (ANSWER.held ?? []).slice(0, 2), hidden_ended: 0 })).toEqual([]);
});
