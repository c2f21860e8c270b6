/** Consumer groups that read the same, as one node of the picture. Pure. */

import { counted } from "../../format/text";
import { compare, type PictureLink, type PictureNode } from "./picture";

/** States of which a bundle has the first that any of its members has; others only if all have the same. */
const WORST_FIRST = ["fail", "gone", "silent", "abort"];
const WEAKEST_FIRST = ["inferred", "declared", "observed"];

interface Drawn {
    nodes: PictureNode[];
    links: PictureLink[];
}

interface Bundling {
    /** All links that are known, also those that are not drawn: by them, two groups read the same, and write nothing. */
    known: readonly PictureLink[];
    rootId: string;
    /** Ids of bundles that stay as they are. */
    apart: readonly string[];
}

/**
 * Of what is drawn, two consumer groups or more that read the same and write nothing become one node, which has them as members. The root
 * stays as it is; the id of a bundle is made of the ids of what it reads.
 */
export function bundled({ nodes, links }: Drawn, { known: every, rootId, apart }: Bundling): Drawn {
    const writers = new Set(every.map(({ source }) => source));
    const reads = new Map<string, string[]>();
    for (const { source, target } of every) reads.set(target, [...(reads.get(target) ?? []), source]);
    const alike = new Map<string, PictureNode[]>();
    for (const node of nodes) {
        const inputs = reads.get(node.id);
        const isPlain = node.hidden.upstream === 0 && node.hidden.downstream === 0;
        if (!inputs || !isPlain || node.id === rootId || writers.has(node.id)) continue;
        if (node.kind !== "job" || node.details?.node_type !== "consumer_group") continue;
        const id = `readers-${inputs.sort(compare).join("-")}`;
        alike.set(id, [...(alike.get(id) ?? []), node]);
    }
    const bundles = [...alike].filter(([id, members]) => members.length > 1 && !apart.includes(id));
    const bundleOf = new Map(bundles.flatMap(([id, members]) => members.map((member) => [member.id, id])));
    const joined = new Map<string, PictureLink>();
    for (const link of links) {
        const target = bundleOf.get(link.target) ?? link.target;
        const id = `${link.source}>${target}`;
        const known = joined.get(id);
        const joint = { ...link, id, target, members: [...(known?.members ?? []), link] };
        joined.set(id, target === link.target ? link : weaker(known, joint));
    }
    return {
        nodes: [...nodes.filter(({ id }) => !bundleOf.has(id)), ...bundles.map(([id, members]) => nodeOf(id, members))],
        links: [...joined.values()],
    };
}

function nodeOf(id: string, members: PictureNode[]): PictureNode {
    const states = members.map(({ details }) => details?.state);
    const [first] = states;
    const isSame = states.every((state) => state === first);
    const state = WORST_FIRST.find((bad) => states.includes(bad)) ?? (isSame ? first : undefined);
    const namespaces = new Set(members.map(({ namespace }) => namespace));
    const name = counted(members.length, "consumer group");
    return {
        id,
        kind: "job",
        namespace: namespaces.size === 1 ? [...namespaces].join() : counted(namespaces.size, "namespace"),
        name,
        details: {
            system: members[0]?.details?.system ?? "",
            node_type: "consumer_group",
            display_name: name,
            ...(state === undefined ? {} : { state }),
        },
        dropped: false,
        hidden: { upstream: 0, downstream: 0 },
        members,
    };
}

/** A link to a bundle is as weak as the weakest to a member. */
function weaker(known: PictureLink | undefined, link: PictureLink): PictureLink {
    if (!known) return link;
    const isWeaker = WEAKEST_FIRST.indexOf(link.origin) < WEAKEST_FIRST.indexOf(known.origin);
    const { origin, evidence } = isWeaker ? link : known;
    const isUsual = known.liveness === "" || known.liveness === "alive";
    return {
        ...link,
        origin,
        evidence,
        label: known.label === "current" ? link.label : known.label,
        via: known.via,
        liveness: isUsual ? link.liveness : known.liveness,
        onlyFailed: known.onlyFailed && link.onlyFailed,
    };
}
