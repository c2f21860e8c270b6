/** A blast radius as a picture, and its rows in groups. Pure. */

import type { Grouping } from "../address/impact";
import type { Schemas } from "../api/client";
import { compare, pictureOf, type Picture } from "../lineage/picture/picture";

type Answer = Schemas["ImpactAnswer"];
export type Affected = Schemas["AffectedNode"];

/** Ids of what the question is about, as flows have them. */
export function rootIds({ origins }: Pick<Answer, "origins">): string[] {
    return origins.map(({ id, canonical }) => canonical ?? id);
}

/** What is listed, and the flows between it, as one picture. */
export function pictureOfImpact(answer: Answer): Picture {
    const roots = answer.origins.map((origin) => ({ ...origin, id: origin.canonical ?? origin.id }));
    const nodes = [
        ...roots,
        ...answer.affected.map(({ node, details }) => ({ ...node, ...(details ? { details } : {}) })),
    ];
    const known = new Set(nodes.map(({ id }) => id));
    const flows = (answer.flows ?? []).filter((flow) =>
        [flow.source, flow.target, flow.job].every((id) => known.has(id)),
    );
    const [origin = answer.origin] = roots;
    const whole = {
        ...{ origin, nodes, members: [], ports: [], columns: [] },
        edges: flows.map((flow) => ({ ...flow, evidence: "", label: "current" })),
        ...{ direction: answer.direction, depth: answer.depth, hidden: answer.hidden, position: answer.position },
        truncated: answer.truncated,
        settling: answer.settling,
    };
    // A picture has the origin of each answer, also where no flow leads from it.
    return pictureOf([whole, ...roots.slice(1).map((root) => ({ ...whole, origin: root, nodes: [], edges: [] }))]);
}

export interface Group {
    /** A system, or owners; empty where none is known. */
    word: string;
    items: Affected[];
    datasets: number;
    jobs: number;
}

/** Rows by what they have in common, the largest group first, each row once: several owners are a group of their own. */
export function groupsOf(items: readonly Affected[], by: Grouping): Group[] {
    const found = new Map<string, Affected[]>();
    for (const item of items) {
        const word = by === "system" ? (item.details?.system ?? "") : (item.details?.owners ?? []).join(", ");
        found.set(word, [...(found.get(word) ?? []), item]);
    }
    return [...found]
        .map(([word, items]) => {
            const jobs = items.filter(({ node }) => node.kind === "job").length;
            return { word, items, jobs, datasets: items.length - jobs };
        })
        .sort((a, b) => b.items.length - a.items.length || compare(a.word, b.word));
}
