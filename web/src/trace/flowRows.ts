/** The flows of a trace as rows of a file. Pure. */

import type { Schemas } from "../api/client";
import { keptOf } from "./kept";

const KEPT_HEAD = ["source_owner", "source_retention", "target_owner", "target_retention"];

export function flowRows(answer: Schemas["TraceAnswer"]): (string | number | undefined)[][] {
    const nodes = new Map(answer.nodes.map((node) => [node.id, node]));
    const name = (id: string) => [nodes.get(id)?.namespace ?? "", nodes.get(id)?.name ?? ""];
    const kept = keptOf(answer);
    const head = [
        "source_namespace",
        "source",
        "source_column",
        "target_namespace",
        "target",
        "target_column",
        "transformations",
        "masked",
    ];
    return [
        [...head, "indirect", "job_namespace", "job", "origin", "event_id", "event_time", ...KEPT_HEAD],
        ...answer.flows.map((flow) => [
            ...[...name(flow.source), flow.source_field, ...name(flow.target), flow.target_field],
            flow.transformations.map(({ type, subtype }) => `${type} ${subtype}`.trim()).join("; "),
            ...[flow.masked ? "yes" : "", flow.indirect ? "yes" : "", ...name(flow.job), flow.origin],
            ...[flow.proof?.event_id, flow.proof?.event_time],
            ...[flow.source, flow.target].flatMap((id) => [kept(id)?.owner, kept(id)?.retention]),
        ]),
    ];
}
