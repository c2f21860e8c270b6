/** What changed at the hops of a ledger, and the ledger as rows. Pure. */

import type { Schemas } from "../api/client";
import { wordsOf, type Mark } from "../lineage/time/comparison";

type Hop = Schemas["LedgerHopAnswer"];

/** What changed at the job of a hop, or at what it writes, and how often. */
export function changesIn(marks: readonly Mark[], { job, target }: Hop): string[] {
    const found = new Map<string, number>();
    for (const mark of marks) {
        if (mark.node.id !== job.id && mark.node.id !== target.id) continue;
        const words = mark.node.id === job.id ? wordsOf(mark) : `${mark.node.name} ${wordsOf(mark)}`;
        found.set(words, (found.get(words) ?? 0) + 1);
    }
    return [...found].map(([words, count]) => (count === 1 ? words : `${words}, ${count} times`));
}

/** What would measure a side of a hop: a kind of source, or the job's own events. */
export function collectorName(collector: string): string {
    return collector === "producer" ? "its own events" : `a ${collector} source`;
}

/** How a side of a hop that is not measured comes to be. */
export function collectorWords(collector: string | undefined): string {
    if (collector === undefined || collector === "producer")
        return "No run reported row counts here. Producers send them in the facets inputStatistics and outputStatistics.";
    return `No run reported row counts here. A source of kind ${collector} observes the job and counts its rows.`;
}

/** The hops as rows, the heads first. */
export function csvRows(hops: Hop[], changesOf: (hop: Hop) => string[]): (string | number | undefined)[][] {
    const head = [
        "job_namespace",
        "job",
        "source_namespace",
        "source",
        "target_namespace",
        "target",
        "read",
        "read_baseline",
    ];
    const lag = ["unread", "seconds_to_read", "partitions_stuck"];
    const more = [
        ...lag,
        "state",
        "last_report",
        "changes_in_window",
        "read_collector",
        "written_collector",
        "unread_collector",
        "distinct_read",
        "distinct_written",
        "consoles",
    ];
    return [
        [...head, "written", "written_baseline", "ratio", "ratio_baseline", "first_divergence", ...more],
        ...hops.map((hop) => [
            ...[hop.job, hop.source, hop.target].flatMap(({ namespace, name }) => [namespace, name]),
            ...[hop.read.window.rows, hop.read.baseline.rows, hop.written.window.rows, hop.written.baseline.rows],
            ...[hop.ratio, hop.baseline_ratio],
            hop.diverged ? "yes" : "",
            ...[hop.lag?.rows, hop.lag?.drain_s, hop.lag?.stuck?.partitions],
            ...[hop.state, hop.last_seen, changesOf(hop).join("; ")],
            ...[hop.read.collector, hop.written.collector, hop.lag_collector],
            ...[hop.read.distinct?.count, hop.written.distinct?.count],
            ...[(hop.consoles ?? []).map(({ url }) => url).join(" ")],
        ]),
    ];
}
