/** What the rates of a picture are asked for. Pure. */

import type { LineageView } from "../../address/view";
import type { Schemas } from "../../api/client";
import type { PulseQuestion } from "../../api/questions";
import type { Picture } from "../picture/picture";
import type { PulseSubject } from "./ticks";

type Answers = readonly Schemas["NeighbourhoodAnswer"][];

/** An address may be 8,192 bytes long at many proxies, and an id has 16, with a comma. */
const MOST_NAMED = 400;

/**
 * The question about the datasets at the links that are drawn, under all their names; about the neighbourhood of the root if there are
 * too many of them.
 */
export function questionOf(view: LineageView, drawn: Picture["links"], answers: Answers): PulseQuestion {
    const ends = new Set(
        drawn.flatMap((link) => link.members ?? [link]).flatMap(({ source, target }) => [source, target]),
    );
    const names = answers
        .flatMap(({ nodes }) => nodes)
        .filter(({ kind, id, canonical }) => kind === "dataset" && ends.has(canonical ?? id))
        .map(({ id }) => id);
    const datasets = [...new Set(names)].sort();
    if (datasets.length > 0 && datasets.length <= MOST_NAMED) return { datasets: datasets.join(",") };
    return { ...view.root, direction: "both", depth: Math.max(view.up, view.down, 1) };
}

/** The links whose rates are shown; of which datasets it is known that nothing flows follows from the question. */
export function subjectOf(
    question: PulseQuestion,
    picture: Picture,
    drawn: Picture["links"],
    answers: Answers,
): PulseSubject {
    const nodes = answers.flatMap((answer) => answer.nodes);
    const heads = new Map(nodes.map(({ id, canonical }) => [id, canonical ?? id]));
    // The first two answers are those around the root, as the pulse is; further ones are of expansions.
    const asked =
        question.datasets?.split(",").map((id) => heads.get(id) ?? id) ??
        answers
            .slice(0, 2)
            .flatMap((answer) => answer.nodes)
            .flatMap(({ id, kind, canonical }) => (kind === "dataset" ? [canonical ?? id] : []));
    return { links: [...picture.links, ...drawn.filter(({ members }) => members)], heads, asked: new Set(asked) };
}
