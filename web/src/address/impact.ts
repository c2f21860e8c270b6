/** The address of a blast radius. */

import { addNodes, distinct, keyOf, nodesOf } from "./nodes";
import { words } from "./parameters";
import type { Direction, NodeRef } from "./view";

export const GROUPINGS = ["system", "owner"] as const;
export type Grouping = (typeof GROUPINGS)[number];

export interface ImpactView {
    page: "impact";
    root: NodeRef;
    /** Nodes that the question is about as well. */
    others: NodeRef[];
    direction: Direction;
    /** What the list is grouped by; empty for nothing. */
    by: Grouping | "";
    as: "graph" | "list";
    /** Ids of the rows whose ways stay lit. */
    lit: string[];
}

export function impactOf(root: NodeRef, ...others: NodeRef[]): ImpactView {
    return withRoots(
        { page: "impact", root, others: [], direction: "downstream", by: "", as: "graph", lit: [] },
        root,
        others,
    );
}

/** Every node that the question is about. */
export function rootsOf({ root, others }: ImpactView): NodeRef[] {
    return [root, ...others];
}

/** The view about one node more. */
export function withRoot(view: ImpactView, added: NodeRef): ImpactView {
    return withRoots(view, view.root, [...view.others, added]);
}

/** The view about one node less; the last one stays. */
export function withoutRoot(view: ImpactView, removed: NodeRef): ImpactView {
    const [first, ...others] = rootsOf(view).filter((root) => keyOf(root) !== keyOf(removed));
    return first ? withRoots(view, first, others) : view;
}

function withRoots(view: ImpactView, root: NodeRef, others: readonly NodeRef[]): ImpactView {
    return { ...view, root, others: distinct([root, ...others]).slice(1), lit: [] };
}

/** The parameters of its address beside its first node; those that are as usual are empty. */
export function impactParameters({ direction, by, as, lit }: ImpactView): Record<string, string> {
    return { direction, by, as: as === "graph" ? "" : as, lit: lit.join(" ") };
}

export function addOthers(query: URLSearchParams, { others }: ImpactView): URLSearchParams {
    return addNodes(query, "also", others);
}

export function impactViewOf(root: NodeRef, given: URLSearchParams): ImpactView {
    const by = GROUPINGS.find((known) => known === given.get("by")) ?? "";
    return {
        ...impactOf(root, ...nodesOf(given, "also")),
        direction: given.get("direction") === "upstream" ? "upstream" : "downstream",
        by,
        as: given.get("as") === "list" ? "list" : "graph",
        lit: words(given.get("lit")),
    };
}
