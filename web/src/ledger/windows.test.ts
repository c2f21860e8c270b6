import { expect, test } from "vitest";

import { ledgerOf } from "../address/view";
import { windowsOf } from "./windows";

const view = ledgerOf({ kind: "dataset", namespace: "n", name: "d" });

test("the baseline is the same hours of the day before", () => {
    expect(windowsOf(view, Date.parse("2026-05-02T12:00:30Z"))).toEqual({
        since: "2026-05-02T06:00:00Z",
        until: "2026-05-02T12:00:00Z",
        baselineSince: "2026-05-01T06:00:00Z",
        baselineUntil: "2026-05-01T12:00:00Z",
    });
});

test("a baseline never overlaps its window", () => {
    const { since, baselineUntil } = windowsOf({ ...view, hours: 72 }, Date.parse("2026-05-10T00:00:00Z"));
    expect(Date.parse(baselineUntil)).toBeLessThanOrEqual(Date.parse(since));
});

test("a pinned window stays where it is", () => {
    const pinned = { ...view, until: "2026-05-02T12:00:00Z", baseline: "before" as const };
    expect(windowsOf(pinned, 0)).toEqual(windowsOf(pinned, Date.now()));
});
