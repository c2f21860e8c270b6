import { describe, expect, test } from "vitest";

import { ESTATE } from "./estate";
import { NO_FILTER } from "./filter";
import { workOf } from "./work";
import { impactOf, impactWithin } from "./impact";
import { addressOf, ledgerOf, lineageOf, viewOf, type NodeRef, type View } from "./view";
import { traceOf } from "./trace";

const TOPIC: NodeRef = { kind: "dataset", namespace: "kafka://broker:9092", name: "a.b/c d?e=f&g#h" };
const JOB: NodeRef = { kind: "job", namespace: "", name: "<script>alert(1)</script>" };

const VIEWS: View[] = [
    { page: "home" },
    { page: "search", text: "orders & more" },
    { page: "pin", id: "gezdgnbvgy3tqojq" },
    lineageOf(TOPIC),
    lineageOf(JOB),
    {
        ...lineageOf(TOPIC),
        up: 3,
        down: 0,
        expansions: [
            { id: "00ff", direction: "upstream" },
            { id: "00ff", direction: "downstream" },
        ],
        open: ["00ff", "0a0b"],
        selected: "0a0b",
        about: "sql",
        column: "00ff.a.b c",
        as: "list",
        bar: 48,
        at: "2026-05-02T00:00:00.000001Z",
        from: "2026-05-01T00:00:00Z",
        pulse: "live",
        filter: { ...NO_FILTER, system: ["kafka", "flink"], tag: ["tier=a b&c"] },
        fold: true,
        apart: ["readers-00ff-0a0b"],
        keep: { id: "00ff", direction: "downstream" },
    },
    ESTATE,
    { page: "estate", scale: "system", as: "list", selected: "00ff" },
    ledgerOf(TOPIC),
    { ...ledgerOf(JOB), hours: 24, until: "2026-05-01T00:00:00Z", baseline: "before" },
    traceOf(TOPIC, "e-mail"),
    { ...traceOf(TOPIC, "e-mail"), access: true, suggestions: true },
    { ...traceOf(TOPIC, "", "downstream"), indirect: true, masked: true, held: true, at: "2026-05-01T00:00:00Z" },
    { ...impactOf(JOB), direction: "upstream" },
    { ...impactWithin("kafka://*"), direction: "upstream", by: "system" },
    { ...impactOf(TOPIC, JOB, { ...TOPIC, name: "" }), by: "owner", as: "list", lit: ["00ff", "0a"] },
    { page: "paths", source: TOPIC, target: JOB },
    workOf("datasets"),
    workOf("jobs", { namespace: "kafka://*", name: "a&b=c" }),
    workOf("runs", { namespace: "", name: "j" }, "run/1?x"),
    { ...workOf("quarantine", { code: "not_json" }), offset: 150 },
    { ...workOf("sources", {}, "constructor"), offset: 0 },
];

describe("a view's address", () => {
    test.each(VIEWS)("leads back to it: $page", (view) => {
        const [path = "", query = ""] = addressOf(view)
            .replace(/^\.\//, "")
            .split(/\?(.*)/s);
        expect(viewOf(path, query)).toEqual(view);
    });

    test("holds no colon-joined name", () => {
        expect(addressOf(lineageOf(TOPIC))).not.toContain("://");
    });

    test.each(["view/lineage", "view/nowhere", "view/paths?namespace=a&name=b", "view/toString", "datasets"])(
        "that says too little is unknown: %s",
        (address) => {
            const [path = "", query = ""] = address.split("?");
            expect(viewOf(path, query)).toEqual({ page: "unknown" });
        },
    );

    test("with two times the wrong way round compares with the earlier one", () => {
        const [early, late] = ["2026-05-01T00:00:00Z", "2026-05-02T00:00:00Z"];
        const query = `namespace=a&name=b&from=${late}&at=${early}`;
        expect(viewOf("view/lineage", query)).toMatchObject({ from: early, at: late });
    });

    test("of a list with an offset or a filter that is none has none", () => {
        expect(viewOf("view/runs", "offset=-5&colour=red")).toEqual(workOf("runs"));
    });

    test("with numbers out of range has the usual ones", () => {
        expect(viewOf("view/lineage", "namespace=a&name=b&up=999&down=x")).toMatchObject({ up: 1, down: 1 });
    });
});
