/** A picture as texts: JSON, Mermaid, and the rows of its links. Pure. */

import { elided, visible } from "../../format/text";
import { shortName } from "../canvas/cardSize";
import { throughWords } from "../picture/edges";
import type { Picture, PictureNode } from "../picture/picture";
import type { Flow } from "../pulse/rates";
import type { Change } from "../time/comparison";

export interface Marks {
    /** How nodes and links differ from the earlier time, where two times are compared. */
    changes: ReadonlyMap<string, Change> | undefined;
    /** What flows on the links, where the pulse is on. */
    flows: ReadonlyMap<string, Flow> | undefined;
}

/** The links as rows, the heads first: a row of its own for each member of a bundle; a node without links is a row of its own. */
export function linkRows(picture: Picture, { changes, flows }: Marks): (string | number | undefined)[][] {
    const every = picture.nodes.flatMap((node) => node.members ?? [node]);
    const byId = new Map(every.map((node) => [node.id, node]));
    const links = picture.links.flatMap((link) => link.members ?? [link]);
    const linked = new Set(links.flatMap(({ source, target }) => [source, target]));
    const end = (id: string) => {
        const node = byId.get(id);
        return [node?.kind ?? "", node?.namespace ?? "", node?.name ?? ""];
    };
    const owners = (id: string) => byId.get(id)?.details?.owners?.join(", ") ?? "";
    const head = [
        ...["source_kind", "source_namespace", "source_name", "target_kind", "target_namespace", "target_name"],
        ...["origin", "label", "through"],
        ...(changes ? ["change"] : []),
        ...(flows ? ["liveness", "rows_per_second", "last_rows"] : []),
        ...["source_owner", "target_owner"],
    ];
    return [
        head,
        ...links.map((link) => [
            ...[...end(link.source), ...end(link.target), link.origin, link.label, link.via.join(" > ")],
            ...(changes ? [changes.get(link.id) ?? ""] : []),
            ...(flows ? [link.liveness, flows.get(link.id)?.rowsPerSecond, flows.get(link.id)?.last] : []),
            ...[owners(link.source), owners(link.target)],
        ]),
        ...every
            .filter(({ id }) => !linked.has(id))
            .map(({ id }) => [...end(id), ...Array<string>(head.length - 5).fill(""), owners(id), ""]),
    ];
}

/** What is drawn, with where it is from: `at` is the time that it is as of, RFC 3339. */
export function jsonOf(picture: Picture, link: string, at: string): string {
    const nodes = picture.nodes.map(({ id, kind, namespace, name, details, dropped, hidden, members }) => ({
        ...{ id, kind, namespace, name, dropped, hidden, details, members },
    }));
    const { links, columns, truncated } = picture;
    return JSON.stringify({ link, at, nodes, links, columns, truncated }, null, 2);
}

/** A flowchart in Mermaid, as Markdown pages show it: jobs are round, what was not observed is dotted. */
export function mermaidOf(picture: Picture): string {
    const ids = new Map(picture.nodes.map(({ id }, index) => [id, `n${index}`]));
    const shape = (node: PictureNode) => {
        const label = quoted(elided(visible(shortName(node)), 120));
        return node.kind === "job" ? `(${label})` : `[${label}]`;
    };
    return [
        "flowchart LR",
        ...picture.nodes.map((node) => `    ${ids.get(node.id) ?? ""}${shape(node)}`),
        ...picture.links.map((link) => {
            const words = [link.label === "current" ? "" : link.label, throughWords(link)].filter(
                (word) => word !== "",
            );
            const arrow = link.origin === "observed" ? "-->" : "-.->";
            const label = words.length > 0 ? `|${quoted(words.join(", "))}|` : "";
            return `    ${ids.get(link.source) ?? ""} ${arrow}${label} ${ids.get(link.target) ?? ""}`;
        }),
        "",
    ].join("\n");
}

/** A text within Mermaid: whatever may end it, or begin markup, is written as its code. */
function quoted(text: string): string {
    return `"${text.replace(/["#<>&`\\[\](){}|;:*_~\n\r]/gu, (character) => `#${character.codePointAt(0) ?? 0};`)}"`;
}
