/** A layered layout, left to right or top to bottom: cycles broken, ranks by longest path, few crossings, and stable when the picture grows. Pure. */

import { orderRanks } from "./ordering";
import { placeRanks } from "./placement";
import { rankNodes } from "./ranking";

export interface Box {
    id: string;
    width: number;
    height: number;
}

export interface Link {
    source: string;
    target: string;
}

export interface Point {
    x: number;
    y: number;
}

export interface LayoutRequest {
    boxes: Box[];
    links: Link[];
    /** Where boxes were: those of one rank keep their order where the links allow it. */
    before: Record<string, Point>;
    /** Data goes down instead of to the right, for stages that are taller than wide. */
    down?: boolean;
    /** How far ranks are apart, where it is not as usual. */
    gap?: number;
}

export interface Layout {
    positions: Record<string, Point>;
    /** Links against the direction of the data: they close a cycle. */
    reversed: Link[];
}

/** An entry of a rank: a box, or where a long link passes the rank (`box` undefined). */
export interface Slot {
    key: string;
    box: Box | undefined;
    height: number;
    /** Keys of the slots in the rank before, and in the rank behind. */
    before: string[];
    behind: string[];
}

export function layOut(request: LayoutRequest): Layout {
    if (!request.down) return layOutRight(request);
    const boxes = request.boxes.map(({ id, width, height }) => ({ id, width: height, height: width }));
    const { positions, reversed } = layOutRight({ ...request, boxes, before: turned(request.before) });
    return { positions: turned(positions), reversed };
}

function turned(positions: Record<string, Point>): Record<string, Point> {
    return Object.fromEntries(Object.entries(positions).map(([id, { x, y }]) => [id, { x: y, y: x }]));
}

function layOutRight({ boxes, links, before, gap }: LayoutRequest): Layout {
    const known = new Set(boxes.map(({ id }) => id));
    const unique = new Map(links.map((link) => [JSON.stringify([link.source, link.target]), link]));
    const used = [...unique.values()].filter(({ source, target }) => known.has(source) && known.has(target));
    const { ranks, forward, reversed } = rankNodes(
        boxes,
        used.filter(({ source, target }) => source !== target),
    );
    const slots = slotted(boxes, forward, ranks);
    const ordered = orderRanks(slots, (key) => before[key]?.y);
    return { positions: placeRanks(ordered, gap), reversed };
}

/** The ranks as lists of slots; a link over several ranks has a slot in each rank on its way. */
function slotted(boxes: Box[], links: Link[], ranks: Map<string, number>): Slot[][] {
    const result: Slot[][] = [];
    const slots = new Map<string, Slot>();
    const add = (rank: number, slot: Slot) => {
        (result[rank] ??= []).push(slot);
        slots.set(slot.key, slot);
    };
    for (const box of boxes) {
        add(ranks.get(box.id) ?? 0, { key: box.id, box, height: box.height, before: [], behind: [] });
    }
    links.forEach(({ source, target }, index) => {
        let last = source;
        for (let rank = (ranks.get(source) ?? 0) + 1; rank < (ranks.get(target) ?? 0); rank++) {
            const key = `\0${index}.${rank}`;
            add(rank, { key, box: undefined, height: 8, before: [], behind: [] });
            join(slots, last, key);
            last = key;
        }
        join(slots, last, target);
    });
    return Array.from(result, (rank: Slot[] | undefined) => rank ?? []);
}

function join(slots: Map<string, Slot>, left: string, right: string): void {
    slots.get(left)?.behind.push(right);
    slots.get(right)?.before.push(left);
}
