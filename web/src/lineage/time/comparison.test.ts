import { describe, expect, test } from "vitest";

import type { Picture, PictureLink, PictureNode } from "../picture/picture";
import { between, compareSnapshots, wordsOf, type Mark } from "./comparison";
import { nextMark, shareOf, spanOf, timeAt } from "./scale";

const picture = (nodes: string[], links: string[]): Picture => ({
    nodes: nodes.map((id) => ({ id }) as PictureNode),
    links: links.map((id) => ({ id }) as PictureLink),
    columns: [],
    truncated: "",
    settling: false,
});
const mark = (what: Mark["what"], id: string, at: string): Mark => ({
    what,
    at,
    node: { id, kind: "job", namespace: "ns", name: id },
});

describe("a comparison", () => {
    test("has what appeared, disappeared and changed, and nothing else", () => {
        const found = compareSnapshots(
            picture(["a", "b", "c"], ["a>b", "b>c"]),
            picture(["a", "b", "d"], ["a>b", "b>d"]),
            [mark("schema", "b", "2026-01-01T00:00:00Z"), mark("failed", "a", "2026-01-01T00:00:00Z")],
        );
        expect(Object.fromEntries(found.changes)).toEqual({
            b: "changed",
            c: "disappeared",
            d: "appeared",
            "b>c": "disappeared",
            "b>d": "appeared",
        });
        expect([found.added, found.removed, found.changed]).toEqual([2, 2, 1]);
    });

    test("is about the marks behind the first time, up to the second", () => {
        const marks = ["01", "02", "03"].map((day) => mark("code", "a", `2026-01-${day}T00:00:00Z`));
        expect(between(marks, "2026-01-01T00:00:00Z", "2026-01-02T00:00:00Z")).toEqual([marks[1]]);
        expect(between(marks, "2026-01-01T12:00:00Z", "")).toEqual(marks.slice(1));
    });
});

test("a rebalance lies between two times", () => {
    const at = "2026-01-01T14:02:30Z";
    expect(wordsOf({ ...mark("rebalanced", "a", at), since: "2026-01-01T14:01:30Z" })).toBe(
        "rebalanced between 14:01 and 14:02",
    );
});

describe("a time bar", () => {
    const span = spanOf(24, Date.parse("2026-01-02T00:00:00Z"), []);

    test("leads from a share to a time and back", () => {
        expect(timeAt(span, 1)).toBe("");
        expect(shareOf(span, "")).toBe(1);
        expect(shareOf(span, timeAt(span, 0.25))).toBeCloseTo(0.25, 3);
    });

    test("reaches back to what the view shows", () => {
        expect(shareOf(spanOf(24, Date.parse("2026-01-02T00:00:00Z"), ["2025-12-01T00:00:00Z"]), "")).toBe(1);
        expect(spanOf(24, 0, ["1969-01-01T00:00:00Z"]).start).toBeLessThan(Date.parse("1969-01-01T00:00:00Z"));
    });

    test("goes from mark to mark", () => {
        const times = ["2026-01-01T01:00:00Z", "2026-01-01T02:00:00Z"];
        expect(nextMark(times, "", false)).toBe(times[1]);
        expect(nextMark(times, "2026-01-01T01:00:00Z", true)).toBe(times[1]);
        expect(nextMark(times, "2026-01-01T02:00:00Z", true)).toBe("");
        expect(nextMark(times, "2026-01-01T01:00:00Z", false)).toBeUndefined();
    });
});
