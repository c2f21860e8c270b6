/** The address of a column trace. */

import { time } from "./parameters";
import type { Direction, NodeRef } from "./view";

export interface TraceView {
    page: "trace";
    dataset: NodeRef;
    field: string;
    direction: Direction;
    indirect: boolean;
    masked: boolean;
    /** Which datasets hold the values. */
    held: boolean;
    /** Who may read and write the datasets. */
    access: boolean;
    /** Columns of the same name behind flows without column evidence. */
    suggestions: boolean;
    /** As of this time, RFC 3339; empty for now. */
    at: string;
}

const CHOICES = ["indirect", "masked", "held", "access", "suggestions"] as const;

export function traceOf(dataset: NodeRef, field: string, direction: Direction = "upstream"): TraceView {
    return { page: "trace", dataset, field, direction, ...chosen(() => false), at: "" };
}

/** What an address has beside the dataset. */
export function traceParameters(view: TraceView): Record<string, string> {
    const choices = CHOICES.map((choice) => [choice, view[choice] ? "yes" : ""] as const);
    return { field: view.field, direction: view.direction, ...Object.fromEntries(choices), at: view.at };
}

export function traceViewOf(dataset: NodeRef, given: URLSearchParams): TraceView {
    const direction = given.get("direction") === "downstream" ? "downstream" : "upstream";
    const choices = chosen((choice) => given.get(choice) === "yes");
    return {
        page: "trace",
        dataset,
        field: given.get("field") ?? "",
        direction,
        ...choices,
        at: time(given.get("at")),
    };
}

function chosen(is: (choice: (typeof CHOICES)[number]) => boolean) {
    const [indirect, masked, held, access, suggestions] = CHOICES.map(is) as [
        boolean,
        boolean,
        boolean,
        boolean,
        boolean,
    ];
    return { indirect, masked, held, access, suggestions };
}
