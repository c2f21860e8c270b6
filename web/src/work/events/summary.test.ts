import { expect, test } from "vitest";

import { summaryOf } from "./summary";

test.each([
    [
        {
            eventTime: "t",
            eventType: "START",
            run: { runId: "r" },
            job: { namespace: "n", name: "j" },
            inputs: [{}, {}],
        },
        { time: "t", type: "START", job: { namespace: "n", name: "j" }, run: "r", inputs: 2, outputs: 0 },
    ],
    [
        { eventTime: "t", run: { runId: "r" }, job: {} },
        { type: "other", job: { namespace: "", name: "" } },
    ],
    [
        { eventTime: "t", job: { name: "j" }, outputs: [{}] },
        { type: "job", run: "", outputs: 1 },
    ],
    [
        { eventTime: "t", dataset: { name: "d" } },
        { type: "dataset", job: undefined, run: "" },
    ],
    [{}, { time: "", inputs: 0, outputs: 0 }],
])("an event in a row: %j", (event, summary) => expect(summaryOf(event)).toMatchObject(summary));
