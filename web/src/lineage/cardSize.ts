import type { Picture, PictureNode } from "./picture";

export const COLUMNS_SHOWN = 12;
export const CARD_WIDTH = 220;
export const ROW_HEIGHT = 24;

/** How far ranks of cards are apart, so that there is room for what links lead through; undefined: as usual. */
export function gapOf({ links }: Picture): number | undefined {
    return links.some(({ via }) => via.length > 0) ? 200 : undefined;
}

/** How tall a card is, without asking the browser. */
export function cardHeight(node: PictureNode, columns: number | undefined): number {
    const lines = Math.min(3, Math.max(1, Math.ceil(shortName(node).length / 20)));
    const rows = columns === undefined ? 0 : Math.min(columns, COLUMNS_SHOWN) + (columns > COLUMNS_SHOWN ? 1 : 0);
    return 48 + lines * 19 + rows * ROW_HEIGHT + (rows > 0 ? 9 : 0);
}

/** The name by which a node is known in its system. */
export function shortName(node: PictureNode): string {
    return node.details?.display_name ?? node.name;
}

/** What a node is, and where: its type in words, and the host of its namespace. */
export function typeWords(node: PictureNode): string {
    const { details } = node;
    if (!details) return node.kind;
    const plain = details.node_type.replaceAll("_", " ");
    const isPlain = details.node_type.startsWith("external") || details.node_type === "job";
    const words = isPlain ? `${details.system} ${plain.replace("external ", "")}` : plain;
    return node.dropped ? `${words}, dropped` : words;
}
