/** The address of a blast radius. */

import { addNodes, distinct, keyOf, nodesOf } from "./nodes";
import { words } from "./parameters";
import type { Direction, NodeRef } from "./view";

export const GROUPINGS = ["system", "owner"] as const;
export type Grouping = (typeof GROUPINGS)[number];

export interface ImpactView {
    page: "impact";
    /** The first node that the question is about; without a name where it is about everything in a namespace. */
    root: NodeRef;
    /** A glob: the question is about everything in the namespaces that match it. Empty if it is about single nodes. */
    within: string;
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
        { page: "impact", root, within: "", others: [], direction: "downstream", by: "", as: "graph", lit: [] },
        root,
        others,
    );
}

/** The blast radius of everything in the namespaces that match a glob, such as a cluster. */
export function impactWithin(glob: string): ImpactView {
    return { ...impactOf({ kind: "dataset", namespace: glob, name: "" }), within: glob };
}

/** Every node that the question is about; none where it is about everything in namespaces. */
export function rootsOf({ root, within, others }: ImpactView): NodeRef[] {
    return within === "" ? [root, ...others] : [];
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

/** A view whose address names no node is about everything in a namespace. */
export function impactViewOf(root: NodeRef | undefined, given: URLSearchParams): ImpactView | undefined {
    const within = given.get("namespace") ?? "";
    if (!root && within === "") return undefined;
    const by = GROUPINGS.find((known) => known === given.get("by")) ?? "";
    return {
        ...(root ? impactOf(root, ...nodesOf(given, "also")) : impactWithin(within)),
        direction: given.get("direction") === "upstream" ? "upstream" : "downstream",
        by,
        as: given.get("as") === "list" ? "list" : "graph",
        lit: words(given.get("lit")),
    };
}
