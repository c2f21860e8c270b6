import type { CardNode } from "../canvas/NodeCard";
import { classesOf, labelOf } from "../picture/edges";
import type { PictureLink } from "../picture/picture";
import type { Comparison } from "../time/comparison";
import { curveOf, type Card } from "./geometry";
import type { Line } from "./paint";

/** The lines of links between cards that have their places; `reversed` has the ids of those that close a cycle. */
export function linesOf(
    links: readonly PictureLink[],
    cards: readonly CardNode[],
    isDown: boolean,
    reversed: ReadonlySet<string>,
    comparison: Comparison | undefined,
): Line[] {
    const places = new Map(
        cards.map(({ id, position, width = 0, height = 0 }): [string, Card] => [id, { ...position, width, height }]),
    );
    return links.flatMap((link): Line[] => {
        const [source, target] = [places.get(link.source), places.get(link.target)];
        if (!source || !target) return [];
        const change = comparison?.changes.get(link.id);
        return [
            {
                id: link.id,
                curve: curveOf(source, target, isDown),
                classes: classesOf(link, reversed.has(link.id), change),
                label: labelOf(link, change),
            },
        ];
    });
}
