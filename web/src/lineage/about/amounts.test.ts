import { expect, test } from "vitest";

import { barsOf, csvRows, endOfBar, inWords, measuresOf, ordered, short, SPANS, type Series } from "./amounts";

const [DAY] = SPANS;
const SINCE = "2026-05-01T00:30:00Z";

function series(side: "input" | "output", name: string, rows: number): Series {
    return {
        ...{ job: { namespace: "ns", name }, dataset: { namespace: "ns", name: "orders" }, side, rows },
        ...{ runs: 2, samples: 3, first: "2026-05-01T01:00:00Z", last: "2026-05-01T23:59:00Z", counting: ["interval"] },
        buckets: [
            { start: "2026-05-01T00:30:00Z", rows: 0 },
            { start: "2026-05-01T23:30:00Z", rows, bytes: 5 },
        ],
    };
}

test("there is a bar for every part of the time; where nothing was reported it is not zero", () => {
    const bars = barsOf(series("output", "load", 7), "rows", SINCE, DAY);
    expect(bars).toHaveLength(24);
    expect(bars.map(({ amount }) => amount)).toEqual([0, ...Array<undefined>(22).fill(undefined), 7]);
    expect(bars[1]?.start).toBe("2026-05-01T01:30:00.000Z");
});

test("the last bar is the one that a time falls into; bars begin with the days of UTC", () => {
    const ends = (time: string) => SPANS.map((span) => endOfBar(Date.parse(time), span));
    expect(ends("2026-05-01T14:03:07Z")).toEqual([
        ...["2026-05-01T15:00:00.000Z", "2026-05-01T18:00:00.000Z", "2026-05-02T00:00:00.000Z"],
    ]);
    expect(ends("2026-05-01T00:00:00Z")[0]).toBe("2026-05-01T01:00:00.000Z");
});

test("a chart in words has the whole, how much was reported, and the highest bar", () => {
    const one = series("output", "load", 1200);
    expect(inWords(one, "rows", barsOf(one, "rows", SINCE, DAY))).toBe(
        "1,200 rows in 2 runs, 2 of 24 bars with reports, the highest is 1,200 from 2026-05-01 23:30:00 UTC",
    );
    expect(inWords(one, "files", barsOf(one, "files", SINCE, DAY))).toBe(
        "0 files in 2 runs, 0 of 24 bars with reports",
    );
});

test("what is written comes before what is read, the largest first; series without the measure are left out", () => {
    const every = [series("input", "a", 9), series("output", "b", 1), series("output", "c", 5)];
    expect(ordered(every, "rows").map(({ job }) => job.name)).toEqual(["c", "b", "a"]);
    expect(ordered(every, "files")).toEqual([]);
    expect(measuresOf(every)).toEqual(["rows"]);
});

test("amounts are short, bytes in powers of 1,024", () => {
    expect([0, 1023, 1024, 1536, 200 * 1024 ** 2, 2 ** 70].map((amount) => short(amount, "bytes"))).toEqual([
        ...["0 B", "1023 B", "1.0 KiB", "1.5 KiB", "200 MiB", "1048576 PiB"],
    ]);
    expect(short(1_500_000, "rows")).toBe("1.5M");
});

test("a file has every bucket of every series", () => {
    expect(csvRows([series("output", "load", 7)])).toEqual([
        ["job_namespace", "job", "dataset_namespace", "dataset", "side", "start", "rows", "bytes", "files"],
        ["ns", "load", "ns", "orders", "output", "2026-05-01T00:30:00Z", 0, undefined, undefined],
        ["ns", "load", "ns", "orders", "output", "2026-05-01T23:30:00Z", 7, 5, undefined],
    ]);
});
