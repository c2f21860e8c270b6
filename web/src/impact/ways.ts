/** The ways from the nodes of a question to what is affected. Pure. */

import type { Schemas } from "../api/client";

type Flow = Schemas["AffectingFlow"];

/** Where a node was reached from: through which job, by flows of which origin. */
interface Step {
    from: string;
    job: string;
    origin: string;
}

/** What is drawn of a way: its nodes, and its links as `source>target`; `origin` is that of its weakest flow. */
export interface Way {
    nodes: string[];
    links: string[];
    origin: string;
}

const WEAKER: readonly string[] = ["observed", "declared", "inferred"];

/** For each node and job that flows lead to from these roots, a shortest way to it. */
export function waysFrom(
    roots: readonly string[],
    flows: readonly Flow[],
    isDown: boolean,
): (id: string) => Way | undefined {
    const steps = stepsFrom(roots, flows, isDown);
    const starts = new Set(roots);
    return (id) => {
        if (starts.has(id) || !steps.has(id)) return undefined;
        const way: Way = { nodes: [id], links: [], origin: "observed" };
        for (let at = id, step = steps.get(at); step !== undefined; at = step.from, step = steps.get(at)) {
            const passed = step.job === at || step.job === step.from ? [] : [step.job];
            way.nodes.push(...passed, step.from);
            way.links.push(...linksOf([at, ...passed, step.from], isDown));
            if (WEAKER.indexOf(step.origin) > WEAKER.indexOf(way.origin)) way.origin = step.origin;
            if (starts.has(step.from)) break;
        }
        return way;
    };
}

function stepsFrom(roots: readonly string[], flows: readonly Flow[], isDown: boolean): Map<string, Step> {
    const leaving = new Map<string, Flow[]>();
    for (const flow of flows) {
        const near = isDown ? flow.source : flow.target;
        leaving.set(near, [...(leaving.get(near) ?? []), flow]);
    }
    const steps = new Map<string, Step>();
    const seen = new Set(roots);
    let frontier: string[] = [...seen];
    while (frontier.length > 0) {
        const next: string[] = [];
        for (const from of frontier) {
            for (const { source, target, job, origin } of leaving.get(from) ?? []) {
                const far = isDown ? target : source;
                const step = { from, job, origin };
                // A job on the way is reached with its input, so that its own way ends at it.
                if (job !== from && job !== far && !steps.has(job) && !seen.has(job)) {
                    steps.set(job, { from, job, origin });
                }
                if (seen.has(far)) continue;
                seen.add(far);
                if (!steps.has(far)) steps.set(far, step);
                next.push(far);
            }
        }
        frontier = next;
    }
    return steps;
}

/** The links between nodes that follow one another, the furthest first. */
function linksOf(nodes: readonly string[], isDown: boolean): string[] {
    return nodes.slice(1).map((near, at) => (isDown ? `${near}>${nodes[at]}` : `${nodes[at]}>${near}`));
}
