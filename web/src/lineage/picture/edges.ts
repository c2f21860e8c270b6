import { MarkerType, type Edge as FlowEdge } from "@xyflow/react";

import { elided, visible } from "../../format/text";
import { COLUMNS_SHOWN } from "../canvas/cardSize";
import { columnKey, type Picture, type PictureLink } from "./picture";
import type { Change } from "../time/comparison";

/** Label of a flow that is as it should be: it needs no word. */
const USUAL = new Set(["current", ""]);

const SIGNS: Record<Change, string> = { appeared: "+", disappeared: "−", changed: "•" };

/** Everything that the look of a link depends on, as the style sheets call it. */
export function classesOf(link: PictureLink, isReversed: boolean, change?: Change): string {
    const classes = [
        "flow",
        link.origin,
        link.label,
        link.onlyFailed && "failed",
        link.liveness,
        isReversed && "reversed",
        change,
    ];
    return classes.filter(Boolean).join(" ");
}

/** What is written on a link; empty if nothing is. */
export function labelOf(link: PictureLink, change?: Change): string {
    const words = [USUAL.has(link.label) ? "" : link.label, throughWords(link)].filter((word) => word !== "");
    return change ? SIGNS[change] : words.join(", ");
}

/** An edge that is a link; `gap`: how far ranks are apart where it is not as usual. */
export type LinkEdge = FlowEdge<{ gap: number | undefined }, "link">;

/** A link as an edge of the graph. */
export function linkEdge(
    link: PictureLink,
    isReversed: boolean,
    change?: Change,
    { gap, isLit = false }: { gap?: number | undefined; isLit?: boolean } = {},
): LinkEdge {
    const label = labelOf(link, change);
    const color = isLit ? "var(--accent)" : colourOf(link, isReversed);
    return {
        id: link.id,
        type: "link",
        source: link.source,
        target: link.target,
        data: { gap },
        className: isLit ? `${classesOf(link, isReversed, change)} lit` : classesOf(link, isReversed, change),
        markerEnd: { type: MarkerType.ArrowClosed, width: 15, height: 15, color },
        ...(isLit ? { zIndex: 4 } : {}),
        ...(label === "" ? {} : { label }),
    };
}

/** What a link leads through that is not drawn; empty if it does not. */
export function throughWords({ via }: PictureLink): string {
    const [first = ""] = via;
    return via.length === 0 ? "" : via.length === 1 ? `through ${elided(visible(first), 24)}` : `through ${via.length}`;
}

function colourOf(link: PictureLink, isReversed: boolean): string {
    if (link.onlyFailed) return "var(--bad)";
    if (link.liveness === "silent" || link.liveness === "gone") return "var(--warn)";
    return isReversed ? "var(--job)" : "var(--line-strong)";
}

/** Keys of all columns with lineage. */
export function tracedColumns(picture: Picture): ReadonlySet<string> {
    return new Set(
        picture.columns.flatMap((flow) => [
            columnKey({ node: flow.source, field: flow.sourceField }),
            columnKey({ node: flow.target, field: flow.targetField }),
        ]),
    );
}

/** Edges of the chosen column alone: those of all columns would hide everything. */
export function columnEdges(
    picture: Picture,
    columns: ReadonlyMap<string, string[]>,
    related: ReadonlySet<string>,
): FlowEdge[] {
    const isShown = (node: string, field: string) =>
        columns.get(node)?.slice(0, COLUMNS_SHOWN).includes(field) ?? false;
    const found = picture.columns.filter(
        (flow) =>
            related.has(columnKey({ node: flow.source, field: flow.sourceField })) &&
            related.has(columnKey({ node: flow.target, field: flow.targetField })) &&
            isShown(flow.source, flow.sourceField) &&
            isShown(flow.target, flow.targetField),
    );
    const unique = new Map(
        found.map((flow) => [`${flow.source}:${flow.sourceField}>${flow.target}:${flow.targetField}`, flow]),
    );
    return [...unique].map(([id, flow]) => ({
        id: `column ${id}`,
        source: flow.source,
        target: flow.target,
        sourceHandle: `out:${flow.sourceField}`,
        targetHandle: `in:${flow.targetField}`,
        className: flow.masked ? "column-edge masked" : "column-edge",
        zIndex: 5,
        ...(flow.masked ? { label: "masked" } : {}),
    }));
}
