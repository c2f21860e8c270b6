/** A trace as a text for an auditor. Pure. */

import type { TraceView } from "../address/trace";
import type { Schemas } from "../api/client";
import { literal } from "../format/markdown";
import { accessLeftOut, jobWords, rightWords } from "./access";
import { coverageWords } from "./coverage";
import { keptOf } from "./kept";

type Trace = Schemas["TraceAnswer"];

/** Where a column comes from or goes, as of the time of the view, with the question, what is not known, and the digest. */
export function report(view: TraceView, answer: Trace, link: string): string {
    const nodes = new Map(answer.nodes.map((node) => [node.id, node]));
    const name = (id: string, field?: string) => {
        const node = nodes.get(id);
        const column = field === undefined ? "" : field === "" ? "all of " : `${literal(field)} of `;
        return node === undefined ? "" : `${column}${literal(node.name)} in ${literal(node.namespace)}`;
    };
    const kept = keptOf(answer);
    const { gaps } = answer.coverage;
    const options = [view.indirect && "with filters and join keys", view.masked && "continued behind masking"];
    const access = (answer.access ?? []).map((each) => {
        const jobs = [
            ...(each.readers?.length ? [`read by ${literal(jobWords(each.readers))}`] : []),
            ...(each.writers?.length ? [`written by ${literal(jobWords(each.writers))}`] : []),
        ];
        const rights = each.may_read
            ? [`may read ${literal(rightWords(each, "read"))}`, `may write ${literal(rightWords(each, "write"))}`]
            : [rightWords(each, "read")];
        const reported = each.observed === undefined ? [] : [`reported ${each.observed}`];
        return `- ${name(each.node)}: ${[...rights, ...jobs, ...reported].join(", ")}`;
    });
    return [
        `**${view.direction === "upstream" ? "Where it comes from" : "Where it goes"}:** ${name(answer.origin.id, view.field)}`,
        [`As of ${view.at}`, ...options.filter(Boolean)].join(", "),
        "",
        ...answer.flows.map((flow) => {
            const how = flow.transformations.map(({ type, subtype }) => `${type} ${subtype}`.trim().toLowerCase());
            return [
                `- ${name(flow.source, flow.source_field)} → ${name(flow.target, flow.target_field)}`,
                `by ${name(flow.job)}: ${how.join("; ") || "not stated"}${flow.masked ? ", masked" : ""}`,
            ].join(", ");
        }),
        "",
        ...answer.kept.map(({ node }) => {
            const { owner = "", retention = "" } = kept(node) ?? {};
            return `- ${name(node)}: owner ${literal(owner)}, kept ${literal(retention)}`;
        }),
        "",
        ...(access.length === 0 ? [] : ["Who could see it:", ...access, ...accessLeftOut(answer), ""]),
        `${coverageWords(answer, view.direction)}${answer.truncated === "" ? "" : `; the limit of ${answer.truncated} ended the search`}.`,
        ...gaps.map((gap) => `- no column evidence: ${name(gap.source)} → ${name(gap.target)}, by ${name(gap.job)}`),
        ...(answer.suggestions?.items ?? []).map(
            (item) =>
                `- same name, no evidence (in no count and no digest): ${name(item.near, item.near_field)} ~ ${name(item.node, item.field)}`,
        ),
        ...doubts(answer),
        `SHA-256 of the answer: ${answer.digest}`,
        link,
        "",
    ].join("\n");
}

/** Why the same question as of the same time may have another answer later, as sentences. */
export function doubts({ resolution, settling }: Pick<Trace, "resolution" | "settling">): string[] {
    return [
        ...(resolution === "day"
            ? ["It is exact to the day: what was repeated within it may have been different."]
            : []),
        ...(settling ? ["Some values are still being derived."] : []),
    ];
}
