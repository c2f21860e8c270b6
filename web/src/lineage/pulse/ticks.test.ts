import { describe, expect, test } from "vitest";

import type { PictureLink } from "../picture/picture";
import { Rates } from "./ticks";

const link = (source: string, target: string) =>
    ({ id: `${source}>${target}`, source, target, liveness: "alive" }) as PictureLink;
const subject = { links: [link("a", "j"), link("j", "b")], heads: new Map(), asked: new Set<string>() };

function told(at: string, rows: Record<string, number>): ArrayBuffer {
    const ref = (id: string) => ({ id, kind: "dataset", namespace: "ns", name: id });
    const flows = Object.entries(rows).map(([id, rate]) => ({
        job: ref("j"),
        dataset: ref(id),
        side: id === "a" ? "input" : "output",
        last: "2026-01-01T00:59:00Z",
        rows_per_second: rate,
    }));
    return new TextEncoder().encode(JSON.stringify({ at, window_s: 3600, flows, truncated: false })).buffer;
}

describe("a tick", () => {
    test("tells of the first state everything, and later what changed alone", () => {
        const rates = new Rates();
        const first = rates.answer({ answer: told("1", { a: 5, b: 2 }), subject });
        expect(first).toMatchObject({ at: "1", isWhole: true });
        expect(first.changed.map(([id]) => id)).toEqual(["a>j", "j>b"]);
        const second = rates.answer({ answer: told("2", { a: 5, b: 3 }) });
        expect(second).toMatchObject({ at: "2", isWhole: false, gone: [] });
        expect(second.changed.map(([id, flow]) => [id, flow.label])).toEqual([["j>b", "3.0 rows/s"]]);
        expect(rates.answer({ answer: told("3", { a: 5, b: 3 }) }).changed).toEqual([]);
    });

    test("of another picture is whole again", () => {
        const rates = new Rates();
        rates.answer({ answer: told("1", { a: 5, b: 2 }), subject });
        const links = [link("a", "j")];
        const next = rates.answer({ answer: told("2", { a: 5, b: 2 }), subject: { ...subject, links } });
        expect(next.isWhole).toBe(true);
        expect(next.changed.map(([id]) => id)).toEqual(["a>j"]);
    });
});
