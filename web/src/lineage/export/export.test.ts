import { describe, expect, test } from "vitest";

import { csv } from "../../format/text";
import type { Picture, PictureNode } from "../picture/picture";
import { drawingOf } from "./drawing";
import { svgOf } from "./svg";
import { jsonOf, linkRows, mermaidOf } from "./texts";

const HOSTILE = [
    '<script>alert("1")</script>',
    "a\u202eb\u0000c\ufffe",
    "very.long.name/".repeat(270),
    'x"]; click n0 "javascript:1"',
    "👩‍💻 🚀",
];

function node(id: string, name: string, kind: "dataset" | "job" = "dataset"): PictureNode {
    const hidden = { upstream: 0, downstream: 0 };
    return { id, kind, namespace: "kafka://b:9092", name, dropped: false, hidden, details: undefined };
}

const usual = { evidence: "explicit", label: "current", liveness: "", onlyFailed: false, via: [] };
const PICTURE: Picture = {
    nodes: [...HOSTILE.map((name, index) => node(`d${index}`, name)), node("j", "job", "job"), node("alone", "alone")],
    links: [
        ...HOSTILE.map((_, index) => ({
            id: `d${index}>j`,
            source: `d${index}`,
            target: "j",
            origin: "observed",
            ...usual,
        })),
        { id: "j>d0", source: "j", target: "d0", origin: "declared", ...usual, label: "stale", via: ["x|y"] },
    ],
    columns: [],
    truncated: "",
    settling: false,
};

describe("the picture as SVG", () => {
    const drawing = drawingOf(PICTURE, "d0", "Lineage of <b>");
    const svg = svgOf(drawing);

    test("is well formed, with no markup of names, and has them whole", () => {
        const tags = svg.match(/<[^>]*>/g) ?? [];
        expect(svg.replace(/<[^>]*>/g, "")).not.toMatch(/[<>]|&(?!(amp|lt|gt|quot|apos);)/);
        expect(new Set(tags.map((tag) => /^<\/?([a-z]+)/.exec(tag)?.[1]))).toEqual(
            new Set(["svg", "title", "defs", "marker", "path", "rect", "text"]),
        );

        expect(svg).not.toMatch(/[\u0000-\u0008\ufffe]/);
        expect(svg).toContain(`${"very.long.name/".repeat(270)} in`);
        expect(svg).toContain("<title>Lineage of &lt;b&gt;</title>");
    });

    test("has a box for each node within its bounds, and a curve for each link", () => {
        const boxes = drawing.shapes.filter((shape) => shape.shape === "box");
        expect(boxes).toHaveLength(PICTURE.nodes.length);
        for (const box of boxes) {
            expect(box.x).toBeGreaterThanOrEqual(0);
            expect(box.x + box.width).toBeLessThanOrEqual(drawing.width);
            expect(box.y + box.height).toBeLessThanOrEqual(drawing.height);
        }
        expect(drawing.shapes.filter((shape) => shape.shape === "curve")).toHaveLength(PICTURE.links.length);
        expect(svg.match(/stroke-dasharray/g)).toHaveLength(1);
        expect(svg).toContain("stale, through x|y");
    });
});

test("the picture as Mermaid has only its own lines, whatever names say", () => {
    const lines = mermaidOf(PICTURE).trimEnd().split("\n");
    expect(lines[0]).toBe("flowchart LR");
    expect(lines).toHaveLength(1 + PICTURE.nodes.length + PICTURE.links.length);
    for (const line of lines.slice(1, 1 + PICTURE.nodes.length))
        expect(line).toMatch(/^ {4}n\d+[[(]"[^"<>[\]()`|:]*"[\])]$/);
    expect(lines.at(-1)).toBe('    n5 -.->|"stale, through x#124;y"| n0');
});

test("the picture as CSV and JSON has every node and link", () => {
    const details = { system: "kafka", node_type: "", display_name: "", owners: ["team:a", "team:b"] };
    const owned = PICTURE.nodes.map((each) => (each.id === "j" || each.id === "alone" ? { ...each, details } : each));
    const rows = linkRows({ ...PICTURE, nodes: owned }, { changes: new Map([["j>d0", "appeared"]]), flows: undefined });
    expect(rows).toHaveLength(1 + PICTURE.links.length + 1);
    expect(rows[0]).toContain("change");
    expect(rows.at(-2)).toEqual([
        "job",
        "kafka://b:9092",
        "job",
        "dataset",
        "kafka://b:9092",
        HOSTILE[0],
        "declared",
        "stale",
        "x|y",
        "appeared",
        "team:a, team:b",
        "",
    ]);
    expect(csv(rows).endsWith('dataset,kafka://b:9092,alone,,,,,,,,"team:a, team:b",\r\n')).toBe(true);
    const read = JSON.parse(jsonOf(PICTURE, "https://x/", "2026-05-01T00:00:00Z")) as Picture & { at: string };
    expect(read.nodes.map(({ name }) => name)).toEqual(PICTURE.nodes.map(({ name }) => name));
    expect(read.links).toEqual(PICTURE.links);
    expect(read.at).toBe("2026-05-01T00:00:00Z");
});
