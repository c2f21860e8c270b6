import type { Placed } from "../../graph/useLayout";
import type { CardNode } from "../canvas/NodeCard";
import { classesOf, labelOf } from "../picture/edges";
import type { PictureLink } from "../picture/picture";
import type { Comparison } from "../time/comparison";
import { curveOf, labelPlace, type Card } from "./geometry";
import type { Line } from "./paint";

/** The lines of links between cards that have their places by a layout; `reversed` has the ids of those that close a cycle. */
export function linesOf(
    links: readonly PictureLink[],
    cards: readonly CardNode[],
    { down: isDown, gap }: Pick<Placed, "down" | "gap">,
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
        const curve = curveOf(source, target, isDown);
        return [
            {
                id: link.id,
                curve,
                isDown,
                labelled: labelPlace(curve, isDown, gap),
                classes: classesOf(link, reversed.has(link.id), change),
                label: labelOf(link, change),
            },
        ];
    });
}
