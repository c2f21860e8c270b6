/** Where the values of a trace are now: the datasets that hold them, and why the others do not. Pure. */

import type { Schemas } from "../api/client";
import { counted } from "../format/text";
import { keptOf } from "./kept";

type Trace = Schemas["TraceAnswer"];
export type Held = Schemas["HeldDataset"];

const WHY: Record<string, string> = {
    dropped: "dropped",
    masked: "reached by masked values alone",
    indirect: "reached by filters and join keys alone",
};

/** The datasets that hold the values, and those that do not. */
export function heldBy({ held = [] }: Pick<Trace, "held">): { holding: Held[]; others: Held[] } {
    return {
        holding: held.filter(({ left_out }) => left_out === undefined),
        others: held.filter(({ left_out }) => left_out !== undefined),
    };
}

/** Why a dataset is left out, in words. */
export function whyLeftOut({ left_out = "" }: Held): string {
    return WHY[left_out] ?? left_out;
}

/** How many datasets are left out and why, and which flows were not followed, as sentences. */
export function leftOut(answer: Pick<Trace, "held" | "hidden_ended">): string[] {
    const { others } = heldBy(answer);
    const reasons = [...new Set(others.map(whyLeftOut))].map(
        (why) => `${counted(others.filter((each) => whyLeftOut(each) === why).length, "dataset")} left out: ${why}.`,
    );
    const ended = answer.hidden_ended ?? 0;
    return ended === 0
        ? reasons
        : [
              ...reasons,
              `${counted(ended, "flow")} that ended not followed: what went through them earlier may still be there.`,
          ];
}

/** The columns in words. */
export function columnsOf({ fields = [] }: Held): string {
    return fields.map((field) => (field === "" ? "(column not known)" : field)).join(", ");
}

/** The datasets that hold the values, as rows of a file. */
export function heldRows(answer: Trace): (string | number | undefined)[][] {
    const nodes = new Map(answer.nodes.map((node) => [node.id, node]));
    const kept = keptOf(answer);
    return [
        ["system", "namespace", "dataset", "columns", "owner", "retention", "last_written"],
        ...heldBy(answer).holding.map((each) => [
            ...[each.system, nodes.get(each.node)?.namespace, nodes.get(each.node)?.name, columnsOf(each)],
            ...[kept(each.node)?.owner, kept(each.node)?.retention, each.last_written],
        ]),
    ];
}
