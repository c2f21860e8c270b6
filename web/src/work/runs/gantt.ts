/** When runs were going, as parts of the time that they all took. Pure. */

import type { Schemas } from "../../api/client";

export type TreeRun = Schemas["DepthRun"];

/** Where the bar of a run is, in percent of the whole; and how long it took, in seconds. */
export interface Bar {
    left: number;
    width: number;
    seconds: number;
    /** It has not ended: what it took is up to its last event. */
    isOpen: boolean;
}

export interface Gantt {
    /** RFC 3339. */
    since: string;
    until: string;
    seconds: number;
    bars: (Bar | undefined)[];
}

const LEAST = 0.5;

/** The bars of runs, in their order; none for a run without any time. Undefined if no run has one. */
export function ganttOf(runs: readonly TreeRun[]): Gantt | undefined {
    const spans = runs.map(spanOf);
    const known = spans.filter((span) => span !== undefined);
    if (known.length === 0) return undefined;
    const since = Math.min(...known.map(({ from }) => from));
    const until = Math.max(...known.map(({ to }) => to));
    const whole = Math.max(until - since, 1);
    const percent = (part: number) => Math.round((part / whole) * 10_000) / 100;
    return {
        since: new Date(since).toISOString(),
        until: new Date(until).toISOString(),
        seconds: (until - since) / 1000,
        bars: spans.map((span, index) => {
            if (!span) return undefined;
            const left = Math.min(percent(span.from - since), 100 - LEAST);
            const width = Math.min(Math.max(percent(span.to - span.from), LEAST), 100 - left);
            return {
                left,
                width,
                seconds: (span.to - span.from) / 1000,
                isOpen: runs[index]?.ended_at === undefined,
            };
        }),
    };
}

function spanOf(run: TreeRun): { from: number; to: number } | undefined {
    const from = Date.parse(run.started_at ?? run.last_seen);
    const to = Date.parse(run.ended_at ?? run.last_seen);
    return Number.isNaN(from) || Number.isNaN(to) ? undefined : { from, to: Math.max(from, to) };
}
