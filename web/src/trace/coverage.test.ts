import { expect, test } from "vitest";

import type { Schemas } from "../api/client";
import { coverageWords } from "./coverage";

const of = (told: number, untold: number) =>
    ({ coverage: { told, untold, gaps: [] } }) as unknown as Schemas["TraceAnswer"];

test("flows with column evidence are counted", () => {
    expect(coverageWords(of(1, 1), "upstream")).toBe("1 of 2 flows on the way have column evidence");
    expect(coverageWords(of(0, 1), "downstream")).toBe("0 of 1 flow on the way has column evidence");
});

test("where there is no flow, it is said plainly that nothing leads there", () => {
    expect(coverageWords(of(0, 0), "upstream")).toBe("No flow is known that leads here");
    expect(coverageWords(of(0, 0), "downstream")).toBe("No flow is known that leads on from here");
});
