import { expect, test } from "vitest";

import type { LineageView } from "../../address/view";
import type { Schemas } from "../../api/client";
import type { Picture, PictureLink } from "../picture/picture";
import { questionOf, subjectOf } from "./asked";

const root = { kind: "dataset", namespace: "ns", name: "a" } as const;
const view = { root, up: 1, down: 3 } as LineageView;
const link = (source: string, target: string) => ({ id: `${source}>${target}`, source, target }) as PictureLink;
const nodes = [
    { id: "a1", kind: "dataset" },
    { id: "a2", kind: "dataset", canonical: "a1" },
    { id: "j", kind: "job" },
    { id: "b", kind: "dataset" },
    { id: "hidden", kind: "dataset" },
];
const answers = [{ nodes }] as unknown as Schemas["NeighbourhoodAnswer"][];
const drawn = [link("a1", "j"), { ...link("j", "all"), members: [link("j", "b")] }];

test("what is drawn is asked for, under all names, and also behind a bundle", () => {
    const question = questionOf(view, drawn, answers);
    expect(question).toEqual({ datasets: "a1,a2,b" });
    const subject = subjectOf(question, { links: [link("j", "hidden")] } as Picture, drawn, answers);
    expect(subject.asked).toEqual(new Set(["a1", "b"]));
    expect(subject.links.map(({ id }) => id)).toEqual(["j>hidden", "j>all"]);
});

test("where more is drawn than an address can name, the neighbourhood is asked for", () => {
    const many = Array.from({ length: 401 }, (_, at) => ({ id: `d${at}`, kind: "dataset" }));
    const more = [{ nodes: many }, { nodes: [] }, { nodes }] as unknown as typeof answers;
    const links = many.map(({ id }) => link(id, "j"));
    const question = questionOf(view, links, more);
    expect(question).toEqual({ ...root, direction: "both", depth: 3 });
    expect(subjectOf(question, { links } as Picture, links, more).asked.size).toBe(401);
    expect(questionOf(view, [], answers)).toEqual({ ...root, direction: "both", depth: 3 });
});
