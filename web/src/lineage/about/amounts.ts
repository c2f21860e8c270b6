/** What runs read and wrote, as charts show it. Pure. */

import type { Schemas } from "../../api/client";
import { compact, counted, moment, whole } from "../../format/text";

export type Series = Schemas["Series"];
export type Measure = "rows" | "bytes" | "files";
export const MEASURES: readonly Measure[] = ["rows", "bytes", "files"];

/** How long a chart reaches back, and the length of each of its bars, in seconds. */
export interface Span {
    words: string;
    seconds: number;
    bar: number;
}

const HOUR = 3600;
export const SPANS: readonly [Span, ...Span[]] = [
    { words: "a day", seconds: 24 * HOUR, bar: HOUR },
    { words: "a week", seconds: 7 * 24 * HOUR, bar: 6 * HOUR },
    { words: "30 days", seconds: 30 * 24 * HOUR, bar: 24 * HOUR },
];

/** When the bar ends that a time in milliseconds falls into, if bars begin with the days of UTC. RFC 3339. */
export function endOfBar(time: number, { bar }: Span): string {
    return new Date((Math.floor(time / 1000 / bar) + 1) * bar * 1000).toISOString();
}

export interface Bar {
    /** RFC 3339. */
    start: string;
    /** Undefined where nothing was reported. */
    amount: number | undefined;
}

/** A series bar by bar from `since` on, also where nothing was reported. */
export function barsOf(series: Series, measure: Measure, since: string, span: Span): Bar[] {
    const begin = Date.parse(since);
    const bars = Array.from({ length: Math.ceil(span.seconds / span.bar) }, (_, at): Bar => {
        return { start: new Date(begin + at * span.bar * 1000).toISOString(), amount: undefined };
    });
    for (const bucket of series.buckets ?? []) {
        const bar = bars[Math.floor((Date.parse(bucket.start) - begin) / 1000 / span.bar)];
        const amount = bucket[measure];
        if (bar && amount !== undefined) bar.amount = (bar.amount ?? 0) + amount;
    }
    return bars;
}

/** The measures that any of the series has. */
export function measuresOf(series: readonly Series[]): Measure[] {
    return MEASURES.filter((measure) => series.some((one) => one[measure] !== undefined));
}

/** The series that have a measure: what was written before what was read, the largest first. */
export function ordered(series: readonly Series[], measure: Measure): Series[] {
    return series
        .filter((one) => one[measure] !== undefined)
        .sort(
            (a, b) => Number(a.side === "input") - Number(b.side === "input") || (b[measure] ?? 0) - (a[measure] ?? 0),
        );
}

/** A chart in words: for who does not see it. */
export function inWords(series: Series, measure: Measure, bars: readonly Bar[]): string {
    const most = bars.reduce<Bar | undefined>(
        (found, bar) => ((bar.amount ?? 0) > (found?.amount ?? 0) ? bar : found),
        undefined,
    );
    const reported = bars.filter(({ amount }) => amount !== undefined).length;
    return [
        `${whole(series[measure] ?? 0)} ${measure} in ${counted(series.runs, "run")}`,
        `${reported} of ${counted(bars.length, "bar")} with reports`,
        ...(most?.amount === undefined ? [] : [`the highest is ${whole(most.amount)} from ${moment(most.start)}`]),
    ].join(", ");
}

const UNITS = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];

/** An amount in few characters. */
export function short(amount: number, measure: Measure): string {
    if (measure !== "bytes") return compact(amount);
    const power = Math.min(UNITS.length - 1, amount < 1 ? 0 : Math.floor(Math.log2(amount) / 10));
    const value = amount / 1024 ** power;
    return `${value >= 100 || power === 0 ? value.toFixed(0) : value.toFixed(1)} ${UNITS[power] ?? ""}`;
}

/** The amounts of all series, bucket by bucket, as a CSV file has them. */
export function csvRows(series: readonly Series[]): (string | number | undefined)[][] {
    const head = ["job_namespace", "job", "dataset_namespace", "dataset", "side", "start", ...MEASURES];
    return [
        head,
        ...series.flatMap(({ job, dataset, side, buckets }) =>
            (buckets ?? []).map((bucket) => [
                ...[job.namespace, job.name, dataset.namespace, dataset.name, side, bucket.start],
                ...MEASURES.map((measure) => bucket[measure]),
            ]),
        ),
    ];
}
