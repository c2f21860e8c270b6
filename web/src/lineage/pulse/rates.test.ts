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
});
