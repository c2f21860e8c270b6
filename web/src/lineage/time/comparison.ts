/** What differs between two pictures of one neighbourhood, and what changed in between. Pure. */

import type { Schemas } from "../../api/client";
import { moment } from "../../format/text";
import type { Picture } from "../picture/picture";

export type Change = "appeared" | "disappeared" | "changed";
export type Mark = Schemas["TimelineMark"];

export interface Comparison {
    /** The change of each node and link that differs, by its id. */
    changes: ReadonlyMap<string, Change>;
    /** What changed at each node, by the node's id. */
    marks: ReadonlyMap<string, Mark[]>;
    added: number;
    removed: number;
    changed: number;
}

const OF_CONTENT = new Set(["schema", "code"]);

/** What differs between what was `before` and what is there `after`; `marks` are those of the time between. */
export function compareSnapshots(before: Picture, after: Picture, marks: readonly Mark[]): Comparison {
    const changes = new Map<string, Change>();
    const differ = (old: { id: string }[], now: { id: string }[]) => {
        const [then, today] = [new Set(old.map(({ id }) => id)), new Set(now.map(({ id }) => id))];
        for (const id of today) if (!then.has(id)) changes.set(id, "appeared");
        for (const id of then) if (!today.has(id)) changes.set(id, "disappeared");
    };
    differ(before.nodes, after.nodes);
    differ(before.links, after.links);
    const byNode = new Map<string, Mark[]>();
    for (const mark of marks) {
        if (!OF_CONTENT.has(mark.what)) continue;
        byNode.set(mark.node.id, [...(byNode.get(mark.node.id) ?? []), mark]);
        if (!changes.has(mark.node.id)) changes.set(mark.node.id, "changed");
    }
    const count = (change: Change) => [...changes.values()].filter((found) => found === change).length;
    return {
        changes,
        marks: byNode,
        added: count("appeared"),
        removed: count("disappeared"),
        changed: count("changed"),
    };
}

/** What lies between two times, the first excluded; an empty text is the latest time. */
export function between(marks: readonly Mark[], from: string, to: string): Mark[] {
    const [first, last] = [Date.parse(from), to === "" ? Infinity : Date.parse(to)];
    return marks.filter(({ at }) => Date.parse(at) > first && Date.parse(at) <= last);
}

const WORDS: Record<Mark["what"], string> = {
    schema: "schema changed",
    code: "new version of its code",
    started: "started",
    failed: "failed",
    rebalanced: "rebalanced",
    appeared: "flows appeared",
    disappeared: "flows disappeared",
};

/** A mark in words, without its time. */
export function wordsOf(mark: Mark): string {
    if (mark.what === "rebalanced") return `rebalanced between ${clock(mark.since ?? mark.at)} and ${clock(mark.at)}`;
    return mark.what === "code" ? `new version of its ${CODE_WORDS[mark.text ?? ""] ?? "code"}` : WORDS[mark.what];
}

const CODE_WORDS: Record<string, string> = {
    sql: "SQL",
    sourceCode: "source code",
    sourceCodeLocation: "source code's location",
};

/** Hour and minute of a time, UTC. */
function clock(time: string): string {
    return moment(time).slice(11, 16);
}
