/** The picture of a view: answers about neighbourhoods, joined. Names of one dataset are one node. Pure. */

import { keyOf } from "../../address/nodes";
import type { Schemas, WalkNode } from "../../api/client";

export interface PictureNode {
    id: string;
    kind: "dataset" | "job";
    namespace: string;
    name: string;
    details: Schemas["NodeDetails"] | undefined;
    dropped: boolean;
    /** How much lies one hop further than the picture shows. */
    hidden: { upstream: number; downstream: number };
    /** The nodes that it stands for; most stand for none but themselves. */
    members?: readonly PictureNode[];
}

/** Data goes from a dataset to a job, from a job to a dataset, or from one dataset to another directly. */
export interface PictureLink {
    id: string;
    source: string;
    target: string;
    origin: string;
    evidence: string;
    label: string;
    liveness: string;
    onlyFailed: boolean;
    /** Names of what it leads through that is not drawn. */
    via: readonly string[];
    /** The links that it stands for, to each member of a bundle; most stand for none but themselves. */
    members?: readonly PictureLink[];
}

export interface ColumnFlow {
    source: string;
    sourceField: string;
    target: string;
    targetField: string;
    job: string;
    masked: boolean;
}

export interface Picture {
    nodes: PictureNode[];
    links: PictureLink[];
    columns: ColumnFlow[];
    /** What ended the answers early, in the server's words; empty if nothing did. */
    truncated: string;
    settling: boolean;
}

type Answer = Schemas["NeighbourhoodAnswer"];

/** The picture of several answers. Whoever is in none of them is counted at its neighbour, if the answers say so. */
export function pictureOf(answers: readonly Answer[]): Picture {
    const heads = new Map<string, string>();
    const nodes = new Map<string, PictureNode>();
    for (const answer of answers) {
        for (const node of answer.nodes) heads.set(node.id, node.canonical ?? node.id);
    }
    const head = (id: string) => heads.get(id) ?? id;
    for (const answer of answers) {
        for (const node of answer.nodes) add(nodes, node, head(node.id));
    }
    const links = joined(answers.flatMap(({ edges }) => edges.flatMap((edge) => halves(edge, head))));
    for (const answer of answers) {
        for (const port of answer.ports) addPort(links, port, head);
    }
    const seen = new Set([...links.values()].flatMap(({ source, target }) => [source, target]));
    answers.forEach(({ origin }) => seen.add(head(origin.id)));
    const shown = [...nodes.values()].filter(({ id }) => seen.has(id));
    subtractShown(shown, [...links.values()]);
    return {
        nodes: shown.sort((a, b) => compare(a.namespace, b.namespace) || compare(a.name, b.name)),
        links: [...links.values()].sort((a, b) => compare(a.id, b.id)),
        columns: answers.flatMap(({ columns }) => columns.map((column) => flow(column, head))),
        truncated: answers.map(({ truncated }) => truncated).find((reason) => reason !== "") ?? "",
        settling: answers.some(({ settling }) => settling),
    };
}

function add(nodes: Map<string, PictureNode>, node: WalkNode, id: string): void {
    const known = nodes.get(id);
    const hidden = {
        upstream: Math.max(known?.hidden.upstream ?? 0, node.beyond?.upstream ?? 0),
        downstream: Math.max(known?.hidden.downstream ?? 0, node.beyond?.downstream ?? 0),
    };
    if (known && node.id !== id) {
        known.hidden = hidden;
        return;
    }
    nodes.set(id, {
        id,
        kind: node.kind === "job" ? "job" : "dataset",
        namespace: node.namespace,
        name: node.name,
        details: node.details ?? known?.details,
        dropped: node.dropped ?? false,
        hidden,
    });
}

/** A flow as its two halves, to the job and from it; one link where a dataset is its own job, or the job an end. */
function halves(edge: Schemas["GraphEdge"], head: (id: string) => string): PictureLink[] {
    const [source, target, job] = [head(edge.source), head(edge.target), head(edge.job)];
    const about = {
        origin: edge.origin,
        evidence: edge.evidence,
        label: edge.label,
        liveness: edge.liveness ?? "",
        onlyFailed: edge.only_failed ?? false,
        via: [],
    };
    const ends =
        job === source || job === target
            ? [[source, target] as const]
            : ([
                  [source, job],
                  [job, target],
              ] as const);
    return ends.map(([from, to]) => ({ id: `${from}>${to}`, source: from, target: to, ...about }));
}

/** One link for each pair; it is as good as the best of its flows. */
function joined(found: PictureLink[]): Map<string, PictureLink> {
    const links = new Map<string, PictureLink>();
    for (const link of found) {
        const known = links.get(link.id);
        links.set(
            link.id,
            known ? { ...known, onlyFailed: known.onlyFailed && link.onlyFailed, ...better(known, link) } : link,
        );
    }
    return links;
}

function better(known: PictureLink, other: PictureLink): Partial<PictureLink> {
    const current = known.label === "current" || other.label !== "current" ? known : other;
    return { label: current.label, origin: current.origin, evidence: current.evidence, liveness: current.liveness };
}

function addPort(links: Map<string, PictureLink>, port: Schemas["GraphPort"], head: (id: string) => string): void {
    const [dataset, job] = [head(port.dataset), head(port.job)];
    const [source, target] = port.side === "input" ? [dataset, job] : [job, dataset];
    const id = `${source}>${target}`;
    if (links.has(id)) return;
    links.set(id, {
        id,
        source,
        target,
        origin: port.origin,
        evidence: "",
        label: port.label,
        liveness: port.liveness ?? "",
        onlyFailed: port.only_failed ?? false,
        via: [],
    });
}

function flow(column: Schemas["GraphColumn"], head: (id: string) => string): ColumnFlow {
    return {
        source: head(column.source),
        sourceField: column.source_field,
        target: head(column.target),
        targetField: column.target_field,
        job: head(column.job),
        masked: column.transformations.some(({ masking }) => masking),
    };
}

/** A count of what lies beyond a node is of one answer; what another one shows is not hidden. */
function subtractShown(nodes: PictureNode[], links: PictureLink[]): void {
    const datasets = new Set(nodes.filter(({ kind }) => kind === "dataset").map(({ id }) => id));
    const next = neighbours(links, "source", "target");
    const previous = neighbours(links, "target", "source");
    const reach = (id: string, step: Map<string, string[]>) =>
        new Set((step.get(id) ?? []).flatMap((other) => (datasets.has(other) ? [other] : (step.get(other) ?? []))));
    for (const node of nodes) {
        if (node.hidden.upstream > 0 && reach(node.id, previous).size >= node.hidden.upstream) node.hidden.upstream = 0;
        if (node.hidden.downstream > 0 && reach(node.id, next).size >= node.hidden.downstream)
            node.hidden.downstream = 0;
    }
}

function neighbours(links: PictureLink[], from: "source" | "target", to: "source" | "target"): Map<string, string[]> {
    const found = new Map<string, string[]>();
    for (const link of links) found.set(link[from], [...(found.get(link[from]) ?? []), link[to]]);
    return found;
}

export function compare(a: string, b: string): number {
    return a < b ? -1 : a > b ? 1 : 0;
}

export interface ColumnRef {
    node: string;
    field: string;
}

/** Whether a node is picked; of counted groups, whether each is. */
export function isPicked(node: PictureNode, keys: ReadonlySet<string>): boolean {
    return (node.members ?? [node]).every((member) => keys.has(keyOf(member)));
}

export function columnKey({ node, field }: ColumnRef): string {
    return `${node}:${field}`;
}

/** Every column of the picture that a column comes from or goes into, itself included. */
export function relatedColumns(flows: readonly ColumnFlow[], start: ColumnRef): Set<string> {
    const found = new Set([columnKey(start)]);
    const follow = (back: boolean) => {
        const open = [start];
        for (let column = open.pop(); column; column = open.pop()) {
            for (const item of flows) {
                const from = back
                    ? { node: item.target, field: item.targetField }
                    : { node: item.source, field: item.sourceField };
                const to = back
                    ? { node: item.source, field: item.sourceField }
                    : { node: item.target, field: item.targetField };
                if (columnKey(from) !== columnKey(column) || found.has(columnKey(to))) continue;
                found.add(columnKey(to));
                open.push(to);
            }
        }
    };
    follow(true);
    follow(false);
    return found;
}
