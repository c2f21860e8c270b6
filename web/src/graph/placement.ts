import type { Point, Slot } from "./layout";

/** How far ranks are apart as usual, in pixels. */
export const COLUMN_GAP = 60;
const ROW_GAP = 24;
const ROUNDS = 8;

/** Where the boxes of ordered ranks are: each near the middle of its neighbours, none upon another. */
export function placeRanks(ranks: Slot[][], gap = COLUMN_GAP): Record<string, Point> {
    const tops = new Map<string, number>();
    const heights = new Map(ranks.flat().map(({ key, height }) => [key, height]));
    for (const rank of ranks) stack(rank, tops);
    for (let round = 0; round < ROUNDS; round++) {
        const down = round % 2 === 0;
        for (const rank of down ? ranks : ranks.toReversed()) align(rank, tops, heights, down);
    }
    const least = Math.min(0, ...tops.values());
    const positions: Record<string, Point> = {};
    let x = 0;
    for (const rank of ranks) {
        const width = Math.max(0, ...rank.map(({ box }) => box?.width ?? 0));
        for (const { key, box } of rank) {
            if (box) positions[key] = { x: x + (width - box.width) / 2, y: Math.round((tops.get(key) ?? 0) - least) };
        }
        x += width + gap;
    }
    return positions;
}

function stack(rank: Slot[], tops: Map<string, number>): void {
    let y = 0;
    for (const slot of rank) {
        tops.set(slot.key, y);
        y += slot.height + ROW_GAP;
    }
}

/** Move each slot to the middle of its neighbours, then apart again, in blocks that share what they have to give way. */
function align(rank: Slot[], tops: Map<string, number>, heights: Map<string, number>, down: boolean): void {
    const wanted = rank.map((slot) => {
        const own = tops.get(slot.key) ?? 0;
        const neighbours = down ? slot.before : slot.behind;
        const centres = neighbours.map((key) => (tops.get(key) ?? 0) + (heights.get(key) ?? 0) / 2);
        if (centres.length === 0) return own;
        return centres.reduce((sum, value) => sum + value, 0) / centres.length - slot.height / 2;
    });
    const blocks: { first: number; last: number; top: number; height: number; count: number }[] = [];
    rank.forEach((slot, index) => {
        let block = { first: index, last: index, top: wanted[index] ?? 0, height: slot.height, count: 1 };
        for (
            let above = blocks.at(-1);
            above && above.top + above.height + ROW_GAP > block.top;
            above = blocks.at(-1)
        ) {
            blocks.pop();
            const offset = above.height + ROW_GAP;
            const count = above.count + block.count;
            const top = (above.top * above.count + (block.top - offset) * block.count) / count;
            block = { first: above.first, last: block.last, top, height: offset + block.height, count };
        }
        blocks.push(block);
    });
    for (const block of blocks) {
        let y = block.top;
        for (const slot of rank.slice(block.first, block.last + 1)) {
            tops.set(slot.key, y);
            y += slot.height + ROW_GAP;
        }
    }
}
