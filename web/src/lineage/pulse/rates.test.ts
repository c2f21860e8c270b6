import { describe, expect, test } from "vitest";

import type { Picture, PictureLink, PictureNode } from "../picture/picture";
import { ratesOf, worstFirst } from "./rates";

const node = (id: string, state?: string) =>
    ({ id, name: id, ...(state ? { details: { state } } : {}) }) as PictureNode;
const link = (source: string, target: string, liveness = "alive") =>
    ({ id: `${source}>${target}`, source, target, liveness }) as PictureLink;
const ref = (id: string) => ({ id, kind: "dataset", namespace: "ns", name: id });
const picture: Picture = {
    nodes: [node("a"), node("j", "silent"), node("b"), node("k", "silent"), node("c"), node("m", "fail")],
    links: [link("a", "j", "silent"), link("j", "b"), link("b", "k"), link("k", "c")],
    columns: [],
    truncated: "",
    settling: false,
};

describe("a pulse", () => {
    test("sums what all names of a dataset have, and says when a silent link last had rows", () => {
        const flows = [
            { job: ref("j"), dataset: ref("b"), side: "output", last: "2026-01-01T00:59:00Z", rows_per_second: 2 },
            { job: ref("j"), dataset: ref("B"), side: "output", last: "2026-01-01T00:58:00Z", rows_per_second: 1 },
            { job: ref("j"), dataset: ref("a"), side: "input", last: "2026-01-01T00:46:00Z", rows_per_second: 5 },
        ] as const;
        const answer = { at: "2026-01-01T01:00:00Z", window_s: 3600, flows: [...flows], truncated: false };
        const found = ratesOf(
            { ...answer, settling: false, position: "" },
            picture.links,
            new Map([["B", "b"]]),
            new Set(),
        );
        expect(found.get("j>b")).toMatchObject({ label: "3.0 rows/s", tone: "good" });
        expect(found.get("a>j")).toMatchObject({ label: "last rows 14 min ago", tone: "warn" });
        expect(found.get("b>k")).toMatchObject({ label: "", rowsPerSecond: undefined });
    });

    test("says that nothing flowed only where it was asked", () => {
        const quiet = [link("a", "j", "silent"), link("k", "c", "silent")];
        const answer = { at: "2026-01-01T01:00:00Z", window_s: 3600, flows: [], truncated: false };
        const found = ratesOf({ ...answer, settling: false, position: "" }, quiet, new Map(), new Set(["a"]));
        expect([found.get("a>j")?.label, found.get("k>c")?.label]).toEqual(["no rows", ""]);
    });

    test("lists the worst first, and those first that more depends on", () => {
        expect(worstFirst(picture).map(({ id, reach }) => [id, reach])).toEqual([
            ["m", 0],
            ["j", 3],
            ["k", 1],
        ]);
    });

    test("has the lag behind the rate, of several the worst", () => {
        const at = "2026-01-01T01:00:00Z";
        const stuck = { partitions: 1, worst: 2, rows: 90 };
        const flow = { job: ref("j"), dataset: ref("a"), side: "input", last: at, rows_per_second: 2 } as const;
        const flows = [
            { ...flow, lag: { at, rows: 240, drain_s: 120 } },
            { ...flow, dataset: ref("A"), rows_per_second: 1, lag: { at, rows: 100, stuck } },
        ];
        const answer = { at, window_s: 3600, flows, truncated: false, settling: false, position: "" };
        const links = [link("a", "j")];
        const found = ratesOf(answer, links, new Map([["A", "a"]]), new Set());
        expect(found.get("a>j")).toMatchObject({ label: "3.0/s, 100 unread, 1 stuck", lag: { rows: 100, stuck } });
        const one = ratesOf({ ...answer, flows: flows.slice(0, 1) }, links, new Map(), new Set());
        expect(one.get("a>j")?.label).toBe("2.0/s, 2 min lag");
        const none = ratesOf(
            { ...answer, flows: [{ ...flow, lag: { at, rows: 0, drain_s: 0 } }] },
            links,
            new Map(),
            new Set(),
        );
        expect(none.get("a>j")?.label).toBe("2.0 rows/s");
    });

    test("lists what lags behind what it reads, unless its state is worse", () => {
        const lag = { at: "2026-01-01T01:00:00Z", rows: 900, drain_s: 1000 };
        const of = { rowsPerSecond: 1, last: "", label: "", width: 1, tone: "good", lag } as const;
        const flows = new Map([
            ["a>j", of],
            ["b>k", { ...of, lag: { ...lag, drain_s: 10 } }],
        ]);
        const alive = { ...picture, nodes: [node("j", "alive"), node("k", "alive")] };
        expect(worstFirst(alive, flows).map(({ id, state }) => [id, state])).toEqual([["j", "lagging"]]);
        expect(worstFirst(picture, flows).find(({ id }) => id === "j")?.state).toBe("silent");
    });
});
