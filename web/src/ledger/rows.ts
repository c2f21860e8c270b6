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
    const more = ["state", "last_report", "changes_in_window"];
    return [
        [...head, "written", "written_baseline", "ratio", "ratio_baseline", "first_divergence", ...more],
        ...hops.map((hop) => [
            ...[hop.job, hop.source, hop.target].flatMap(({ namespace, name }) => [namespace, name]),
            ...[hop.read.window.rows, hop.read.baseline.rows, hop.written.window.rows, hop.written.baseline.rows],
            ...[hop.ratio, hop.baseline_ratio],
            hop.diverged ? "yes" : "",
            ...[hop.state, hop.last_seen, changesOf(hop).join("; ")],
        ]),
    ];
}
