import type { Schemas } from "../api/client";

type Hop = Pick<Schemas["LedgerHopAnswer"], "source" | "target">;

/** How many hops upstream of one node another one is; 0 if no hops lead there. */
export function hopsUp(hops: readonly Hop[], from: string, to: string): number {
    const seen = new Set([from]);
    for (let at = [from], far = 0; at.length > 0; far += 1) {
        if (at.includes(to)) return far;
        const next = hops.filter(({ target, source }) => at.includes(target.id) && !seen.has(source.id));
        at = [...new Set(next.map(({ source }) => source.id))];
        at.forEach((id) => seen.add(id));
    }
    return 0;
}
