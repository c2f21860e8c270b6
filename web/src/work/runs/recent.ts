import type { Sent } from "../../api/lists";

/** A run that sent events lately, as far as those say. */
export interface RecentRun {
    id: string;
    job: { namespace: string; name: string };
    /** The type of its latest event. */
    state: string;
    at: string;
    events: number;
}

/** The runs of events that are sorted from the newest to the oldest, the one with the latest event first. */
export function recentRuns(events: readonly Sent[]): RecentRun[] {
    const found = new Map<string, RecentRun>();
    for (const { event } of events) {
        const { run, job, eventType, eventTime } = event as EventLike;
        if (typeof run?.runId !== "string" || job === undefined) continue;
        const known = found.get(run.runId);
        if (known) known.events += 1;
        else
            found.set(run.runId, {
                id: run.runId,
                job: { namespace: job.namespace ?? "", name: job.name ?? "" },
                state: eventType ?? "unknown",
                at: eventTime ?? "",
                events: 1,
            });
    }
    return [...found.values()];
}

interface EventLike {
    run?: { runId?: unknown };
    job?: { namespace?: string; name?: string };
    eventType?: string;
    eventTime?: string;
}
