import type { Slot } from "./layout";

const SWEEPS = 12;

/** The slots of each rank in an order with few crossings. `seed` is where a slot was: the order begins with that. */
export function orderRanks(ranks: Slot[][], seed: (key: string) => number | undefined): Slot[][] {
    let current = ranks.map((rank) => seeded(rank, seed));
    let best = { ranks: current, crossings: crossings(current) };
    for (let sweep = 0; sweep < SWEEPS && best.crossings > 0; sweep++) {
        current = swept(current, sweep % 2 === 0);
        const found = crossings(current);
        if (found < best.crossings) best = { ranks: current, crossings: found };
    }
    return best.ranks;
}

function seeded(rank: Slot[], seed: (key: string) => number | undefined): Slot[] {
    const placed = rank.map((slot, index) => ({ slot, index, at: seed(slot.key) }));
    const known = placed.filter(({ at }) => at !== undefined).sort((a, b) => (a.at ?? 0) - (b.at ?? 0));
    return [...known, ...placed.filter(({ at }) => at === undefined)].map(({ slot }) => slot);
}

/** Each rank ordered by the mean place of its neighbours in the rank before (or behind). */
function swept(ranks: Slot[][], down: boolean): Slot[][] {
    const result = [...ranks];
    const order = down ? ranks.keys() : Array.from(ranks.keys()).reverse();
    for (const index of order) {
        const neighbours = result[down ? index - 1 : index + 1];
        const rank = result[index];
        if (!neighbours || !rank) continue;
        const places = new Map(neighbours.map((slot, place) => [slot.key, place]));
        const weighed = rank.map((slot, place) => ({
            slot,
            place,
            weight: mean(down ? slot.before : slot.behind, places) ?? place,
        }));
        result[index] = weighed.sort((a, b) => a.weight - b.weight || a.place - b.place).map(({ slot }) => slot);
    }
    return result;
}

function mean(keys: string[], places: Map<string, number>): number | undefined {
    const found = keys.flatMap((key) => places.get(key) ?? []);
    return found.length === 0 ? undefined : found.reduce((sum, place) => sum + place, 0) / found.length;
}

/** How many pairs of links cross between neighbouring ranks. */
export function crossings(ranks: Slot[][]): number {
    let total = 0;
    for (let index = 1; index < ranks.length; index++) {
        const places = new Map(ranks[index]?.map((slot, place) => [slot.key, place]));
        const ends = (ranks[index - 1] ?? []).flatMap((slot) =>
            slot.behind.flatMap((key) => places.get(key) ?? []).sort((a, b) => a - b),
        );
        total += inversions(ends);
    }
    return total;
}

/** Pairs that are in the wrong order, by merging sorted halves. */
function inversions(values: number[]): number {
    if (values.length < 2) return 0;
    const middle = values.length >> 1;
    const [left, right] = [values.slice(0, middle), values.slice(middle)];
    let total = inversions(left) + inversions(right);
    left.sort((a, b) => a - b);
    right.sort((a, b) => a - b);
    for (let i = 0, j = 0; i < left.length; i++) {
        while (j < right.length && (right[j] ?? 0) < (left[i] ?? 0)) j++;
        total += j;
    }
    return total;
}
