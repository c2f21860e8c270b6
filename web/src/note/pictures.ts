/** Answers other than neighbourhoods as pictures, for notes. Pure. */

import type { GraphNode, Schemas } from "../api/client";
import { compare, type Picture, type PictureLink, type PictureNode } from "../lineage/picture/picture";

interface Step {
    source: string;
    job: string;
    target: string;
    origin: string;
}

/** A trace: each flow, and each gap as one that is only inferred, because no column is known to take it. */
export function pictureOfTrace({ nodes, origin, flows, coverage }: Schemas["TraceAnswer"]): Picture {
    return pictureOfSteps(
        [origin, ...nodes],
        [...flows, ...coverage.gaps.map((gap) => ({ ...gap, origin: "inferred" }))],
    );
}

export function pictureOfLedger({ hops }: Pick<Schemas["LedgerAnswer"], "hops">, target: GraphNode): Picture {
    return pictureOfSteps(
        [target, ...hops.flatMap((hop) => [hop.source, hop.job, hop.target])],
        hops.map(({ source, job, target }) => ({
            source: source.id,
            job: job.id,
            target: target.id,
            origin: "observed",
        })),
    );
}

function pictureOfSteps(nodes: readonly GraphNode[], steps: readonly Step[]): Picture {
    const links = new Map<string, PictureLink>();
    const add = (source: string, target: string, origin: string) => {
        const id = `${source}>${target}`;
        const about = { evidence: "", label: "current", liveness: "", onlyFailed: false, via: [] };
        if (source !== target && !links.has(id)) links.set(id, { id, source, target, origin, ...about });
    };
    for (const { source, job, target, origin } of steps) {
        add(source, job, origin);
        add(job, target, origin);
    }
    const found = new Map(nodes.map((node) => [node.id, pictureNode(node)]));
    return {
        nodes: [...found.values()].sort((a, b) => compare(a.id, b.id)),
        links: [...links.values()].filter(({ source, target }) => found.has(source) && found.has(target)),
        columns: [],
        truncated: "",
        settling: false,
    };
}

function pictureNode({ id, kind, namespace, name }: GraphNode): PictureNode {
    return {
        id,
        kind: kind === "job" ? "job" : "dataset",
        namespace,
        name,
        details: undefined,
        dropped: false,
        hidden: { upstream: 0, downstream: 0 },
    };
}
