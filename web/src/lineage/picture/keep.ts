import type { Expansion } from "../../address/view";
import type { Picture } from "./picture";

/** The part of a picture that lies upstream or downstream of a node, and the node; all of it if the node is not in it. Pure. */
export function keepOnly(picture: Picture, keep: Expansion | undefined): Picture {
    if (!keep || !picture.nodes.some(({ id }) => id === keep.id)) return picture;
    const isDown = keep.direction === "downstream";
    const next = new Map<string, string[]>();
    for (const { source, target } of picture.links) {
        const [near, far] = isDown ? [source, target] : [target, source];
        next.set(near, [...(next.get(near) ?? []), far]);
    }
    const kept = new Set([keep.id]);
    // What is added while it is gone through is gone through, too.
    for (const id of kept) for (const far of next.get(id) ?? []) kept.add(far);
    return {
        ...picture,
        nodes: picture.nodes.filter(({ id }) => kept.has(id)),
        links: picture.links.filter(({ source, target }) => kept.has(source) && kept.has(target)),
        columns: picture.columns.filter(({ source, target }) => kept.has(source) && kept.has(target)),
    };
}
