/** What a view shows, for a chat, a ticket or a mail: link, names, time and a small picture. Pure. */

import { literal, unmarked } from "../format/markdown";
import { counted, visible } from "../format/text";
import { drawingOf } from "../lineage/export/drawing";
import { escaped, svgOf } from "../lineage/export/svg";
import type { Picture } from "../lineage/picture/picture";
import { around } from "./around";

export interface NoteName {
    namespace: string;
    name: string;
}

export interface NoteItem extends NoteName {
    /** What else is to be said about it, in words; empty if nothing is. */
    words: string;
}

export interface NoteContent {
    /** What is shown of the names, such as "Blast radius of". */
    subject: string;
    names: readonly NoteName[];
    /** The time that is shown, in words, such as "as of 2026-01-01T00:00:00Z". */
    window: string;
    /** What was found, in sentences. */
    sentences: readonly string[];
    items: readonly NoteItem[];
    picture: Picture;
    rootIds: readonly string[];
}

export interface Note {
    /** For what shows no pictures. */
    markdown: string;
    /** With the picture in it. */
    html: string;
    svg: string;
}

/** Further items are counted: a note that nobody reads to its end says less. */
const LISTED = 50;
/** A small picture has room for so many nodes: those nearest to where it starts. */
const DRAWN = 40;
/** The most that a small picture measures, in pixels. */
const SMALL = { width: 960, height: 600 };

export function noteOf(content: NoteContent, link: string): Note {
    const { subject, names, window, sentences, items } = content;
    const listed = items.slice(0, LISTED);
    const more = items.length > LISTED ? `and ${counted(items.length - LISTED, "other")}` : "";
    const svg = smallPicture(content);
    return {
        markdown: [
            `**${unmarked(subject)}** ${names.map(inMarkdown).join(", ")}`,
            unmarked([window, ...sentences].join("; ")),
            ...listed.map(
                ({ words, ...name }) => `- ${[inMarkdown(name), unmarked(words)].filter(Boolean).join(", ")}`,
            ),
            ...(more === "" ? [] : [`- ${more}`]),
            link,
            "",
        ].join("\n"),
        html: [
            `<p><b>${shown(subject)}</b> ${names.map(inHtml).join(", ")}</p>`,
            `<p>${shown([window, ...sentences].join("; "))}</p>`,
            svg,
            `<ul>${listed.map(({ words, ...name }) => `<li>${[inHtml(name), shown(words)].filter(Boolean).join(", ")}</li>`).join("")}`,
            `${more === "" ? "" : `<li>${more}</li>`}</ul>`,
            `<p><a href="${escaped(link)}">${escaped(link)}</a></p>`,
        ].join("\n"),
        svg,
    };
}

function smallPicture({ subject, names, window, picture, rootIds }: NoteContent): string {
    const { part, left } = around(picture, rootIds, DRAWN);
    const title = [`${visible(subject)} ${names.map(({ name }) => visible(name)).join(", ")}`, window];
    if (left > 0) title.push(`${counted(left, "node")} further away`);
    return svgOf(drawingOf(part, rootIds[0] ?? "", title.join(", ")), SMALL);
}

function inMarkdown({ namespace, name }: NoteName): string {
    return `${literal(name)} in ${literal(namespace)}`;
}

function inHtml({ namespace, name }: NoteName): string {
    return `<code>${shown(name)}</code> in <code>${shown(namespace)}</code>`;
}

/** A text within HTML. */
function shown(text: string): string {
    return escaped(visible(text));
}
