/** Which nodes views are about, and how far around them they go. Pure. */

import type { NodeRef, View } from "./view";

export const MOST_HOPS = 20;

/** A node of an answer by its name. */
export function refOf({ kind, namespace, name }: { kind: string; namespace: string; name: string }): NodeRef {
    return { kind: kind === "job" ? "job" : "dataset", namespace, name };
}

/** What a view is about; undefined if it is about no single dataset or job. */
export function subjectOf(view: View): NodeRef | undefined {
    switch (view.page) {
        case "lineage":
        case "impact":
            return view.root;
        case "ledger":
            return view.target;
        case "trace":
            return view.dataset;
        case "paths":
            return view.source;
        default:
            return undefined;
    }
}

/** As many hops as a view may have, as near to these as can be. */
export function boundedHops(hops: number): number {
    return Math.max(0, Math.min(MOST_HOPS, hops));
}
