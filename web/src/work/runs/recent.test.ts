import { expect, test } from "vitest";

import type { Sent } from "../../api/lists";
import { recentRuns } from "./recent";

function sent(event: Record<string, unknown>): Sent {
    return { event, event_id: "e", channel: "http", arrived_at: "2026-05-01T00:00:00Z" };
}

test("recent runs are those of the newest events, each with its latest state", () => {
    const job = { namespace: "n", name: "j" };
    const found = recentRuns([
        sent({ run: { runId: "b" }, job, eventType: "FAIL", eventTime: "t3" }),
        sent({ run: { runId: "a" }, job, eventType: "RUNNING", eventTime: "t2" }),
        sent({ job, eventTime: "t2" }),
        sent({ dataset: {}, eventTime: "t2" }),
        sent({ run: { runId: "b" }, job, eventType: "START", eventTime: "t1" }),
    ]);
    expect(found).toEqual([
        { id: "b", job, state: "FAIL", at: "t3", events: 2 },
        { id: "a", job, state: "RUNNING", at: "t2", events: 1 },
    ]);
});
