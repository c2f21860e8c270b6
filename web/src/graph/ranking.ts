import type { Box, Link } from "./layout";

export interface Ranked {
    ranks: Map<string, number>;
    /** The links, those against the direction turned round. */
    forward: Link[];
    reversed: Link[];
}

/** The rank of each box: one more than the largest of what leads to it. Links that close a cycle are turned round. */
export function rankNodes(boxes: Box[], links: Link[]): Ranked {
    const outgoing = new Map<string, Link[]>(boxes.map(({ id }) => [id, []]));
    links.forEach((link) => outgoing.get(link.source)?.push(link));
    const entered = new Set(links.map(({ target }) => target));
    const starts = [...boxes.filter(({ id }) => !entered.has(id)), ...boxes];
    const { finished, reversed } = depthFirst(starts, outgoing);
    const turned = new Set(reversed);
    const forward = links.map((link) => (turned.has(link) ? { source: link.target, target: link.source } : link));
    return { ranks: closeToTargets(longestPaths(boxes, forward, finished), forward), forward, reversed };
}

function depthFirst(starts: Box[], outgoing: Map<string, Link[]>): { finished: string[]; reversed: Link[] } {
    const state = new Map<string, "open" | "done">();
    const finished: string[] = [];
    const reversed: Link[] = [];
    for (const { id: start } of starts) {
        if (state.has(start)) continue;
        const stack = [{ id: start, next: 0 }];
        state.set(start, "open");
        for (let top = stack.at(-1); top; top = stack.at(-1)) {
            const link = outgoing.get(top.id)?.[top.next++];
            if (!link) {
                state.set(top.id, "done");
                finished.push(top.id);
                stack.pop();
            } else if (state.get(link.target) === "open") {
                reversed.push(link);
            } else if (!state.has(link.target)) {
                state.set(link.target, "open");
                stack.push({ id: link.target, next: 0 });
            }
        }
    }
    return { finished, reversed };
}

function longestPaths(boxes: Box[], links: Link[], finished: string[]): Map<string, number> {
    const ranks = new Map(boxes.map(({ id }) => [id, 0]));
    const outgoing = grouped(links, "source");
    // The reverse of the order in which a depth-first search leaves nodes follows the links; those turned round may need another pass.
    for (let pass = 0, changed = true; changed && pass <= boxes.length; pass++) {
        changed = false;
        for (const id of finished.toReversed()) {
            const next = (ranks.get(id) ?? 0) + 1;
            for (const { target } of outgoing.get(id) ?? []) {
                if ((ranks.get(target) ?? 0) < next) {
                    ranks.set(target, next);
                    changed = true;
                }
            }
        }
    }
    return ranks;
}

/** Sources move next to what they lead to, so that their links are short. */
function closeToTargets(ranks: Map<string, number>, links: Link[]): Map<string, number> {
    const outgoing = grouped(links, "source");
    const incoming = grouped(links, "target");
    for (const id of ranks.keys()) {
        const targets = outgoing.get(id);
        if (targets && !incoming.has(id))
            ranks.set(id, Math.min(...targets.map(({ target }) => ranks.get(target) ?? 0)) - 1);
    }
    return ranks;
}

function grouped(links: Link[], end: "source" | "target"): Map<string, Link[]> {
    const groups = new Map<string, Link[]>();
    for (const link of links) {
        const group = groups.get(link[end]);
        if (group) group.push(link);
        else groups.set(link[end], [link]);
    }
    return groups;
}
