/** Who owns the datasets of a trace, and how long their data is kept. Pure. */

import type { Schemas } from "../api/client";

export interface Kept {
    /** What nobody has stated is "unknown". */
    owner: string;
    retention: string;
}

const UNKNOWN = "unknown";

/** By the id of a dataset; a job has neither. */
export function keptOf({ kept }: Pick<Schemas["TraceAnswer"], "kept">): (id: string) => Kept | undefined {
    const found = new Map(
        kept.map(({ node, owners, retention }) => [
            node,
            { owner: owners?.length ? owners.join(", ") : UNKNOWN, retention: retention ?? UNKNOWN },
        ]),
    );
    return (id) => found.get(id);
}
