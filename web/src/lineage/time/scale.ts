/** Times on a bar: a share of its width for a time, and a time for a share. Pure. */

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

export interface Span {
    /** Milliseconds since 1970. */
    start: number;
    end: number;
}

/** The last hours until now in whole minutes; longer, if a time of the view lies before that. */
export function spanOf(hours: number, now: number, times: readonly string[]): Span {
    const end = Math.floor(now / MINUTE_MS) * MINUTE_MS + MINUTE_MS;
    const earliest = Math.min(...times.filter((time) => time !== "").map((time) => Date.parse(time)), Infinity);
    const start = end - hours * HOUR_MS;
    return { start: earliest < start ? earliest - HOUR_MS : start, end };
}

export function shareOf(span: Span, time: string): number {
    if (time === "") return 1;
    return Math.min(1, Math.max(0, (Date.parse(time) - span.start) / (span.end - span.start)));
}

/** The time at a share, in whole minutes; empty, for now, at the end. */
export function timeAt(span: Span, share: number): string {
    if (share >= 0.998) return "";
    const time = span.start + Math.max(0, share) * (span.end - span.start);
    return textOf(Math.round(time / MINUTE_MS) * MINUTE_MS);
}

export function textOf(time: number): string {
    return new Date(time).toISOString().replace(".000Z", "Z");
}

/** The next time of a list behind a time (or before it), empty for now behind the last one. */
export function nextMark(times: readonly string[], time: string, forward: boolean): string | undefined {
    const at = time === "" ? Infinity : Date.parse(time);
    if (forward) return times.find((other) => Date.parse(other) > at) ?? "";
    return times.findLast((other) => Date.parse(other) < at);
}
