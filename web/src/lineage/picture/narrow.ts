/** A picture without what is filtered out or folded: what lies between two nodes that stay becomes one link. Pure. */

import type { FilterKey, PictureFilter } from "../../address/filter";
import { bundled } from "./bundles";
import { shortName } from "../canvas/cardSize";
import { compare, type Picture, type PictureLink, type PictureNode } from "./picture";

/** How many links may be drawn in place of what is hidden; a job in between with many ends would make too many. */
const MOST_BRIDGES = 5_000;
/** How far a link leads through what is hidden. */
const MOST_VIA = 50;

export interface Narrowing {
    filter: PictureFilter;
    fold: boolean;
    rootId: string;
    /** Ids of the bundles of consumer groups that are drawn one by one; undefined if all are. */
    apart?: readonly string[] | undefined;
}

export interface Narrowed extends Picture {
    /** How many nodes are not drawn. */
    hiddenNodes: number;
}

export function narrow(picture: Picture, { filter, fold, rootId, apart }: Narrowing): Narrowed {
    const nodes = new Map(picture.nodes.map((node) => [node.id, node]));
    const links = picture.links.filter((link) => passesLink(link, nodes, filter));
    const folded = fold ? trivial(nodes, links, rootId) : new Set<string>();
    const isDrawn = (id: string) => {
        const node = nodes.get(id);
        return node !== undefined && (id === rootId || (!folded.has(id) && passesNode(node, filter)));
    };
    const bridges = bridged(links, nodes, isDrawn);
    const drawn = [...bridges.links.values()].sort((a, b) => compare(a.id, b.id));
    const ends = new Set(drawn.flatMap(({ source, target }) => [source, target]));
    const kept = picture.nodes.filter(({ id }) => id === rootId || (isDrawn(id) && ends.has(id)));
    const known = new Set(kept.map(({ id }) => id));
    const unbundled = { nodes: kept, links: drawn };
    const shown = fold && apart ? bundled(unbundled, { known: picture.links, rootId, apart }) : unbundled;
    return {
        ...picture,
        ...shown,
        columns: picture.columns.filter(({ source, target }) => known.has(source) && known.has(target)),
        truncated: bridges.isCut ? "links through what is hidden" : picture.truncated,
        hiddenNodes: picture.nodes.length - shown.nodes.filter(({ members }) => members === undefined).length,
    };
}

/** The words that can be chosen of a picture, each with how many nodes or links have it. */
export function wordsOf(picture: Picture): Record<FilterKey, [string, number][]> {
    const counts = (words: (string | undefined)[]): [string, number][] => {
        const found = new Map<string, number>();
        for (const word of words) if (word) found.set(word, (found.get(word) ?? 0) + 1);
        return [...found].sort(([a], [b]) => compare(a, b));
    };
    return {
        system: counts(picture.nodes.map(({ details }) => details?.system)),
        type: counts(picture.nodes.map(({ details }) => details?.node_type)),
        tag: counts(picture.nodes.flatMap(({ details }) => details?.tags ?? [])),
        origin: counts(picture.links.map(({ origin }) => origin)),
        evidence: counts(picture.links.map(({ evidence }) => evidence)),
        state: counts(picture.nodes.map(({ details }) => details?.state)),
    };
}

function passesNode({ details }: PictureNode, { system, type, tag }: PictureFilter): boolean {
    return (
        isAmong(details?.system, system) &&
        isAmong(details?.node_type, type) &&
        (tag.length === 0 || (details?.tags ?? []).some((word) => tag.includes(word)))
    );
}

/** The state of a link is that of the job at its end. */
function passesLink(link: PictureLink, nodes: ReadonlyMap<string, PictureNode>, filter: PictureFilter): boolean {
    const states = [link.source, link.target].flatMap((id) => nodes.get(id)?.details?.state ?? []);
    return (
        isAmong(link.origin, filter.origin) &&
        isAmong(link.evidence, filter.evidence) &&
        (filter.state.length === 0 || states.some((state) => filter.state.includes(state)))
    );
}

function isAmong(word: string | undefined, chosen: readonly string[]): boolean {
    return chosen.length === 0 || (word !== undefined && chosen.includes(word));
}

/** Jobs that get data from one dataset and give it to one other, and the topics that stream processing has for itself. */
function trivial(nodes: ReadonlyMap<string, PictureNode>, links: readonly PictureLink[], rootId: string): Set<string> {
    const [sources, targets] = [new Map<string, Set<string>>(), new Map<string, Set<string>>()];
    for (const { source, target } of links) {
        sources.set(target, (sources.get(target) ?? new Set()).add(source));
        targets.set(source, (targets.get(source) ?? new Set()).add(target));
    }
    const isInternal = ({ name }: PictureNode) => /-(changelog|repartition)$/.test(name);
    const found = [...nodes.values()].filter((node) => {
        if (node.id === rootId || node.hidden.upstream > 0 || node.hidden.downstream > 0) return false;
        const [before, behind] = [sources.get(node.id)?.size ?? 0, targets.get(node.id)?.size ?? 0];
        return node.kind === "job" ? before === 1 && behind === 1 : isInternal(node) && before > 0 && behind > 0;
    });
    return new Set(found.map(({ id }) => id));
}

/** The links between drawn nodes: those there are, and one for each pair with a way through what is hidden. */
function bridged(
    links: readonly PictureLink[],
    nodes: ReadonlyMap<string, PictureNode>,
    isDrawn: (id: string) => boolean,
): { links: Map<string, PictureLink>; isCut: boolean } {
    const leaving = new Map<string, PictureLink[]>();
    for (const link of links) leaving.set(link.source, [...(leaving.get(link.source) ?? []), link]);
    const found = new Map(
        links.filter(({ source, target }) => isDrawn(source) && isDrawn(target)).map((link) => [link.id, link]),
    );
    let [bridges, isCut] = [0, false];
    for (const start of nodes.keys()) {
        if (!isDrawn(start)) continue;
        const seen = new Set([start]);
        const open = (leaving.get(start) ?? []).filter(({ target }) => !isDrawn(target));
        for (let link = open.shift(); link; link = open.shift()) {
            if (isDrawn(link.target)) {
                const id = `${start}>${link.target}`;
                if (link.target === start || found.has(id)) continue;
                if (++bridges > MOST_BRIDGES) return { links: found, isCut: true };
                found.set(id, { ...link, id, source: start });
            } else if (!seen.has(link.target)) {
                seen.add(link.target);
                const middle = nodes.get(link.target);
                const via = middle ? [...link.via, shortName(middle)] : link.via;
                if (via.length > MOST_VIA) isCut = true;
                else for (const next of leaving.get(link.target) ?? []) open.push(joined(link, next, via));
            }
        }
    }
    return { links: found, isCut };
}

const WEAKER: readonly string[] = ["observed", "declared", "inferred"];

/** A link that leads on: as weak as the weaker of the two. */
function joined(link: PictureLink, next: PictureLink, via: readonly string[]): PictureLink {
    const weaker = WEAKER.indexOf(next.origin) > WEAKER.indexOf(link.origin) ? next : link;
    return {
        ...next,
        origin: weaker.origin,
        evidence: weaker.evidence,
        label: link.label === "current" ? next.label : link.label,
        liveness: link.liveness === "alive" || link.liveness === "" ? next.liveness : link.liveness,
        onlyFailed: link.onlyFailed || next.onlyFailed,
        via,
    };
}
