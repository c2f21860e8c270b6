/** The part of a picture around where it starts. Pure. */

import type { Picture } from "../lineage/picture/picture";

/** The nodes nearest to the roots, at most so many, with the links between them; and how many nodes are left out. */
export function around(picture: Picture, rootIds: readonly string[], most: number): { part: Picture; left: number } {
    const next = new Map<string, string[]>();
    for (const { source, target } of picture.links) {
        next.set(source, [...(next.get(source) ?? []), target]);
        next.set(target, [...(next.get(target) ?? []), source]);
    }
    const known = new Set(picture.nodes.map(({ id }) => id));
    // A set keeps the order in which it was filled: what is nearer comes first, and what no link leads to comes last.
    const order = new Set(rootIds.filter((id) => known.has(id)));
    for (const id of order)
        (next.get(id) ?? []).filter((other) => known.has(other)).forEach((other) => order.add(other));
    known.forEach((id) => order.add(id));
    const kept = new Set([...order].slice(0, most));
    return {
        part: {
            ...picture,
            nodes: picture.nodes.filter(({ id }) => kept.has(id)),
            links: picture.links.filter(({ source, target }) => kept.has(source) && kept.has(target)),
        },
        left: order.size - kept.size,
    };
}
