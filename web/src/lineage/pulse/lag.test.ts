import { expect, test } from "vitest";

import { drainWords, isLagging, shortWords, stuckWords, worse } from "./lag";

const at = "2026-01-01T00:00:00Z";

test("a reader is up to date, needs a time, or reads nothing", () => {
    expect(drainWords({ at, rows: 0, drain_s: 0 })).toBe("up to date");
    expect(drainWords({ at, rows: 5, drain_s: 150 })).toBe("2 min to read");
    expect(drainWords({ at, rows: 5 })).toBe("nothing is read");
});

test("partitions are stuck, and the worst of them is named", () => {
    expect(stuckWords({ partitions: 1, worst: 3, rows: 1234 })).toBe("partition 3 is stuck, with 1,234 unread");
    expect(stuckWords({ partitions: 2, worst: 3, rows: 9 })).toBe("2 partitions are stuck, 3 with 9 unread");
});

test("a reader lags if it needs long, reads nothing, or is stuck", () => {
    expect(isLagging({ at, rows: 5, drain_s: 599 })).toBe(false);
    expect(isLagging({ at, rows: 0 })).toBe(false);
    expect(isLagging({ at, rows: 5, drain_s: 601 })).toBe(true);
    expect(isLagging({ at, rows: 5 })).toBe(true);
    expect(isLagging({ at, rows: 5, drain_s: 1, stuck: { partitions: 1, worst: 0, rows: 5 } })).toBe(true);
});

test("of two lags, that is worse which takes longer, and then that with more", () => {
    expect(worse({ at, rows: 5 }, { at, rows: 50, drain_s: 9 })).toBe(true);
    expect(worse({ at, rows: 5, drain_s: 9 }, { at, rows: 50, drain_s: 9 })).toBe(false);
    expect(worse({ at, rows: 0, drain_s: 0 }, undefined)).toBe(true);
});

test("a lag on a link is short", () => {
    expect(shortWords({ at, rows: 0, drain_s: 0 })).toBe("");
    expect(shortWords({ at, rows: 5, drain_s: 7200 })).toBe("2 h lag");
    expect(shortWords({ at, rows: 5, stuck: { partitions: 2, worst: 0, rows: 5 } })).toBe("5 unread, 2 stuck");
});
