import { describe, expect, test } from "vitest";

import type { PictureLink } from "../picture/picture";
import { Rates, type PulseRequest, type Tick } from "./ticks";

const link = (source: string, target: string) =>
    ({ id: `${source}>${target}`, source, target, liveness: "alive" }) as PictureLink;
const subject = { links: [link("a", "j"), link("j", "b")], heads: new Map(), asked: new Set<string>() };

function tickOf(rates: Rates, request: PulseRequest): Tick {
    const tick = rates.answer(request);
    if (!tick) throw new Error("there is no tick");
    return tick;
}

function told(at: string, rows: Record<string, number>): ArrayBuffer {
    return new TextEncoder().encode(JSON.stringify(answerOf(at, rows))).buffer;
}

function answerOf(at: string, rows: Record<string, number>) {
    const ref = (id: string) => ({ id, kind: "dataset", namespace: "ns", name: id });
    const flows = Object.entries(rows).map(([id, rate]) => ({
        job: ref("j"),
        dataset: ref(id),
        side: id === "a" ? "input" : "output",
        last: "2026-01-01T00:59:00Z",
        rows_per_second: rate,
    }));
    return { at, window_s: 3600, flows, truncated: false };
}

describe("a tick", () => {
    test("tells of the first state everything, and later what changed alone", () => {
        const rates = new Rates();
        const first = tickOf(rates, { answer: told("1", { a: 5, b: 2 }), subject });
        expect(first).toMatchObject({ at: "1", isWhole: true });
        expect(first.changed.map(([id]) => id)).toEqual(["a>j", "j>b"]);
        const second = tickOf(rates, { answer: told("2", { a: 5, b: 3 }) });
        expect(second).toMatchObject({ at: "2", isWhole: false, gone: [] });
        expect(second.changed.map(([id, flow]) => [id, flow.label])).toEqual([["j>b", "3.0 rows/s"]]);
        expect(tickOf(rates, { answer: told("3", { a: 5, b: 3 }) }).changed).toEqual([]);
    });

    test("of another picture is whole again", () => {
        const rates = new Rates();
        tickOf(rates, { answer: told("1", { a: 5, b: 2 }), subject });
        const links = [link("a", "j")];
        const next = tickOf(rates, { answer: told("2", { a: 5, b: 2 }), subject: { ...subject, links } });
        expect(next.isWhole).toBe(true);
        expect(next.changed.map(([id]) => id)).toEqual(["a>j"]);
    });

    test("has of pushed rates what changed and what is gone", () => {
        const rates = new Rates();
        const pushed = (at: string, rows: Record<string, number>, isWhole: boolean, gone: string[] = []) =>
            JSON.stringify({
                ...answerOf(at, rows),
                is_whole: isWhole,
                gone: gone.map((dataset) => ({ job: "j", dataset, side: "input" })),
            });
        expect(rates.answer({ answer: pushed("1", { a: 5, b: 2 }, true) })).toBeUndefined();
        expect(tickOf(rates, { subject }).changed.map(([id]) => id)).toEqual(["a>j", "j>b"]);
        const second = tickOf(rates, { answer: pushed("2", { b: 3 }, false) });
        expect([second.at, second.isWhole]).toEqual(["2", false]);
        expect(second.changed.map(([id, flow]) => [id, flow.label])).toEqual([["j>b", "3.0 rows/s"]]);
        const third = tickOf(rates, { answer: pushed("3", {}, false, ["a"]) });
        expect(third.changed.map(([id, flow]) => [id, flow.label])).toEqual([["a>j", ""]]);
        expect(tickOf(rates, { answer: pushed("4", { b: 3 }, true) }).changed).toEqual([]);
    });
});
