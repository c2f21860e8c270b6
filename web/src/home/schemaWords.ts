/** What changed in a schema, in words. Pure. */

import type { Schemas } from "../api/client";

type Fields = Pick<Schemas["SchemaChangeItem"], "added" | "removed" | "changed">;

/** The columns that were added, removed and have another type; what else can change is their order. */
export function schemaWords({ added, removed, changed }: Fields): string {
    const parts = [
        ...named("added", added),
        ...named("removed", removed),
        ...changed.map(
            ({ path, before, after }) => `${path.join(".")}: ${before ?? "no type"} is now ${after ?? "no type"}`,
        ),
    ];
    return parts.length > 0 ? parts.join("; ") : "the order of the columns changed";
}

function named(what: string, fields: Fields["added"]): string[] {
    return fields.length > 0 ? [`${what} ${fields.map(({ path }) => path.join(".")).join(", ")}`] : [];
}
