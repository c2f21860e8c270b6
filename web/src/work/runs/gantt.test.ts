import { describe, expect, test } from "vitest";

import { ganttOf, type TreeRun } from "./gantt";

function run(started_at: string | undefined, ended_at: string | undefined, last_seen: string): TreeRun {
    return {
        run_id: "r",
        state: "COMPLETE",
        job: { namespace: "n", name: "j" },
        inputs: [],
        outputs: [],
        last_seen: `2026-05-01T${last_seen}Z`,
        ...(started_at === undefined ? {} : { started_at: `2026-05-01T${started_at}Z` }),
        ...(ended_at === undefined ? {} : { ended_at: `2026-05-01T${ended_at}Z` }),
    };
}

describe("the gantt of runs", () => {
    test("has a bar for each, as part of the time of all", () => {
        const gantt = ganttOf([run("10:00:00", "10:00:40", "10:00:40"), run("10:00:10", "10:00:20", "10:00:20")]);
        expect(gantt).toMatchObject({
            since: "2026-05-01T10:00:00.000Z",
            until: "2026-05-01T10:00:40.000Z",
            seconds: 40,
        });
        expect(gantt?.bars).toEqual([
            { left: 0, width: 100, seconds: 40, isOpen: false },
            { left: 25, width: 25, seconds: 10, isOpen: false },
        ]);
    });

    test("has a run without an end up to its last event, and one that ended before it began as a point", () => {
        const gantt = ganttOf([run("10:00:00", undefined, "10:00:30"), run("10:00:20", "10:00:10", "10:00:20")]);
        expect(gantt?.bars[0]).toEqual({ left: 0, width: 100, seconds: 30, isOpen: true });
        expect(gantt?.bars[1]).toMatchObject({ width: 0.5, seconds: 0 });
    });

    test("keeps a run of no length, and one at the end, in sight", () => {
        const only = ganttOf([run("10:00:00", "10:00:00", "10:00:00")]);
        expect(only?.bars).toEqual([{ left: 0, width: 0.5, seconds: 0, isOpen: false }]);
        const last = ganttOf([run("10:00:00", "10:00:10", "10:00:10"), run("10:00:10", "10:00:10", "10:00:10")]);
        expect(last?.bars[1]).toMatchObject({ left: 99.5, width: 0.5 });
    });

    test("has no bar for a run whose time cannot be read, and is none without any", () => {
        const unread = { ...run(undefined, undefined, "10:00:00"), last_seen: "never" };
        expect(ganttOf([unread, run("10:00:00", undefined, "10:00:01")])?.bars[0]).toBeUndefined();
        expect(ganttOf([unread])).toBeUndefined();
        expect(ganttOf([])).toBeUndefined();
    });
});
