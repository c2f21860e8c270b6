/** Which nodes views are about, and how far around them they go. Pure. */

import type { NodeRef, View } from "./view";

export const MOST_HOPS = 20;

/** How many nodes can be picked, and one blast radius be of; the API takes no more. */
export const MOST_ROOTS = 50;

/** A node of an answer by its name. */
export function refOf({ kind, namespace, name }: { kind: string; namespace: string; name: string }): NodeRef {
    return { kind: kind === "job" ? "job" : "dataset", namespace, name };
}

/** What a view is about; undefined if it is about no single dataset or job. */
export function subjectOf(view: View): NodeRef | undefined {
    switch (view.page) {
        case "lineage":
            return view.root;
        case "impact":
            return view.within === "" ? view.root : undefined;
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

export function keyOf({ kind, namespace, name }: NodeRef): string {
    return JSON.stringify([kind, namespace, name]);
}

/** The nodes, each once, of those that come first as many as a view may have. */
export function distinct(nodes: readonly NodeRef[], most = MOST_ROOTS): NodeRef[] {
    return [...new Map(nodes.map((node) => [keyOf(node), node])).values()].slice(0, most);
}

/** Adds nodes to the parameters of an address, as `also_kind` and so on for the word `also`. */
export function addNodes(query: URLSearchParams, word: string, nodes: readonly NodeRef[]): URLSearchParams {
    for (const { kind, namespace, name } of nodes) {
        query.append(`${word}_kind`, kind);
        query.append(`${word}_namespace`, namespace);
        query.append(`${word}_name`, name);
    }
    return query;
}

/** The nodes that `addNodes` added, without those that lack a namespace. */
export function nodesOf(given: URLSearchParams, word: string): NodeRef[] {
    const [kinds, namespaces] = [given.getAll(`${word}_kind`), given.getAll(`${word}_namespace`)];
    const named = given.getAll(`${word}_name`).flatMap((name, at): NodeRef[] => {
        const namespace = namespaces[at];
        return namespace === undefined ? [] : [{ kind: kinds[at] === "job" ? "job" : "dataset", namespace, name }];
    });
    return distinct(named);
}
