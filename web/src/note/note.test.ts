import { expect, test } from "vitest";

import type { Picture } from "../lineage/picture/picture";
import { around } from "./around";
import { noteOf, type NoteContent } from "./note";
import { pictureOfTrace } from "./pictures";

const LINK = "https://lineage.example.com/view/lineage?name=a&up=1";

/** A chain of datasets `n0` to `n1` and so on, and one node that no link leads to. */
function chain(length: number): Picture {
    const ids = [...Array(length).keys()].map((number) => `n${number}`);
    const node = (id: string) => ({
        ...{ id, kind: "dataset" as const, namespace: "kafka://b", name: `<${id}>`, details: undefined },
        ...{ dropped: false, hidden: { upstream: 0, downstream: 0 } },
    });
    const about = { origin: "observed", evidence: "", label: "current", liveness: "", onlyFailed: false, via: [] };
    const links = ids.slice(1).map((target, at) => ({
        ...{ id: `n${at}>${target}`, source: `n${at}`, target },
        ...about,
    }));
    return { nodes: [...ids, "alone"].map(node), links, columns: [], truncated: "", settling: false };
}

function contentOf(picture: Picture): NoteContent {
    return {
        subject: "Lineage of",
        names: [{ namespace: "kafka://b", name: "<n0>" }],
        window: "as of 2026-01-01T00:00:00Z",
        sentences: ["3 nodes"],
        items: picture.nodes.map(({ namespace, name }) => ({ namespace, name, words: "dataset" })),
        picture,
        rootIds: ["n0"],
    };
}

test("a note has the link, the names, the time and a small picture, and names do no harm in it", () => {
    const { markdown, html, svg } = noteOf(contentOf(chain(2)), LINK);
    expect(markdown.split("\n")).toEqual([
        "**Lineage of** `<n0>` in `kafka://b`",
        "as of 2026-01-01T00:00:00Z; 3 nodes",
        "- `<n0>` in `kafka://b`, dataset",
        "- `<n1>` in `kafka://b`, dataset",
        "- `<alone>` in `kafka://b`, dataset",
        LINK,
        "",
    ]);
    expect(html).toContain("<b>Lineage of</b> <code>&lt;n0&gt;</code> in <code>kafka://b</code>");
    expect(html).toContain(`<a href="${LINK.replace("&", "&amp;")}">`);
    expect(html).toContain(svg);
    expect(svg).toContain("Lineage of &lt;n0&gt;, as of 2026-01-01T00:00:00Z");
});

test("names within sentences, words and the subject are no markup either", () => {
    const hostile = "![x](https://e/a.png)<img src=y>\u202e**b**`\n# h";
    const content = { ...contentOf(chain(1)), subject: `Where ${hostile} goes`, sentences: [hostile] };
    const { markdown, html } = noteOf({ ...content, items: [{ namespace: "n", name: "a", words: hostile }] }, LINK);
    const text = "!\\[x\\](https://e/a.png)\\<img src=y\\>⟨U+202E⟩\\*\\*b\\*\\*\\`⟨U+000A⟩# h";
    expect(markdown.split("\n")).toEqual([
        `**Where ${text} goes** \`<n0>\` in \`kafka://b\``,
        `as of 2026-01-01T00:00:00Z; ${text}`,
        `- \`a\` in \`n\`, ${text}`,
        LINK,
        "",
    ]);
    expect(html).not.toMatch(/<img|\u202e/);
});

test("a picture of a note is small, however large the lineage is, and says what is left out of it", () => {
    const { markdown, svg } = noteOf(contentOf(chain(300)), LINK);
    const [, width = 0, height = 0] = (/<svg [^>]*width="(\d+)" height="(\d+)"/.exec(svg) ?? []).map(Number);
    expect(width).toBeLessThanOrEqual(960);
    expect(height).toBeLessThanOrEqual(600);
    expect(svg.match(/<rect [^>]*rx=/g)).toHaveLength(40);
    expect(svg).toContain("261 nodes further away");
    expect(markdown).toContain("- and 251 others");
});

test("what is nearest to the roots is kept, whichever way the links lead", () => {
    const { part, left } = around(chain(9), ["n4"], 3);
    expect(part.nodes.map(({ id }) => id)).toEqual(["n3", "n4", "n5"]);
    expect(part.links.map(({ id }) => id)).toEqual(["n3>n4", "n4>n5"]);
    expect(left).toBe(7);
    expect(around(chain(2), ["gone"], 9).left).toBe(0);
});

test("a trace is drawn with its gaps as what is only inferred", () => {
    const node = (id: string, kind = "dataset") => ({ id, kind, namespace: "ns", name: id });
    const flow = { source: "a", source_field: "x", job: "j", target: "b", target_field: "y", origin: "observed" };
    const picture = pictureOfTrace({
        nodes: [node("a"), node("b"), node("c"), node("j", "job"), node("k", "job")],
        origin: node("a"),
        flows: [{ ...flow, transformations: [] }],
        coverage: {
            ...{ told: 1, untold: 1 },
            gaps: [{ source: "b", target: "c", job: "k", origin: "observed", evidence: "job" }],
        },
    } as never);
    expect(picture.links.map(({ id, origin }) => [id, origin])).toEqual([
        ["a>j", "observed"],
        ["j>b", "observed"],
        ["b>k", "inferred"],
        ["k>c", "inferred"],
    ]);
});
