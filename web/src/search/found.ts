import { refOf } from "../address/nodes";
import { lineageOf, type LineageView } from "../address/view";
import type { Schemas } from "../api/client";
import { iconOf, type IconName } from "../parts/Icon";

type Found = Schemas["SearchAnswer"]["results"][number];

/** The lineage of what was found; of a dataset that was found by a column, with that column chosen. */
export function foundView(found: Pick<Found, "id" | "kind" | "namespace" | "name" | "matched">): LineageView {
    const view = lineageOf(refOf(found));
    const [match] = found.matched ?? [];
    if (found.kind === "job" || match?.in !== "column") return view;
    return { ...view, column: `${found.id}.${match.text}`, open: [found.id] };
}

/** The icon of what was found, by its type and its system. */
export function foundIcon({ kind, details }: Pick<Found, "kind" | "details">): IconName {
    return iconOf(kind, details?.node_type ?? "", details?.system ?? "");
}
