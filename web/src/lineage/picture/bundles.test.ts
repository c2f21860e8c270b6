import { describe, expect, test } from "vitest";

import { NO_FILTER } from "../../address/filter";
import { bundled } from "./bundles";
import { linkRows } from "../export/texts";
import { narrow } from "./narrow";
import type { PictureLink, PictureNode } from "./picture";
import { ratesOf } from "../pulse/rates";

function node(id: string, type: string, state?: string): PictureNode {
    return {
        id,
        kind: type === "kafka_topic" ? "dataset" : "job",
        namespace: "kafka://broker",
        name: id,
        dropped: false,
        hidden: { upstream: 0, downstream: 0 },
        details: { system: "kafka", node_type: type, display_name: id, ...(state === undefined ? {} : { state }) },
    };
}

function link(ends: string, origin = "observed"): PictureLink {
    const [source = "", target = ""] = ends.split(">");
    return {
        id: ends,
        source,
        target,
        origin,
        evidence: "",
        label: "current",
        liveness: "",
        onlyFailed: false,
        via: [],
    };
}

const PICTURE = {
    nodes: [
        node("orders", "kafka_topic"),
        node("payments", "kafka_topic"),
        node("billing", "consumer_group", "alive"),
        node("fraud", "consumer_group", "silent"),
        node("mail", "consumer_group", "alive"),
        node("both", "consumer_group", "alive"),
        node("sink", "connector", "alive"),
        node("writes", "consumer_group", "alive"),
    ],
    links: [
        ...["billing", "fraud", "mail", "both", "sink", "writes"].map((job) => link(`orders>${job}`)),
        link("payments>both"),
        link("writes>payments", "declared"),
    ].map((item) => ({
        ...item,
        ...(item.id === "orders>mail" ? { origin: "declared" } : {}),
        liveness: item.target === "fraud" ? "silent" : "alive",
    })),
};
const ID = "readers-orders";

describe("consumer groups that read the same", () => {
    const { nodes, links } = bundled(PICTURE, { known: PICTURE.links, rootId: "orders", apart: [] });
    const bundle = nodes.find(({ id }) => id === ID);

    test("are one node, which counts them, and one link as weak as the weakest", () => {
        expect(nodes.map(({ id }) => id)).toEqual(["orders", "payments", "both", "sink", "writes", ID]);
        expect(bundle).toMatchObject({
            name: "3 consumer groups",
            namespace: "kafka://broker",
            details: { state: "silent" },
        });
        expect(bundle?.members?.map(({ id }) => id)).toEqual(["billing", "fraud", "mail"]);
        expect(links.filter(({ target }) => target === ID)).toMatchObject([{ id: `orders>${ID}`, origin: "declared" }]);
        expect(links).toHaveLength(PICTURE.links.length - 2);
    });

    test("stay apart where that is asked, where one is the root, and where something of one is not shown", () => {
        expect(bundled(PICTURE, { known: PICTURE.links, rootId: "orders", apart: [ID] })).toEqual(PICTURE);
        expect(bundled(PICTURE, { known: PICTURE.links, rootId: "fraud", apart: [] }).nodes.at(-1)?.name).toBe(
            "2 consumer groups",
        );
        const hidden = PICTURE.nodes.map((item) =>
            item.id === "mail" ? { ...item, hidden: { upstream: 2, downstream: 0 } } : item,
        );
        expect(
            bundled({ ...PICTURE, nodes: hidden }, { known: PICTURE.links, rootId: "orders", apart: [] }).nodes.at(-1)
                ?.name,
        ).toBe("2 consumer groups");
    });

    test("are those that read the same by all that is known, whatever the filter leaves", () => {
        const whole = { ...PICTURE, columns: [], truncated: "", settling: false };
        // By what was observed alone, "writes" would write nothing.
        const origin = { filter: { ...NO_FILTER, origin: ["observed"] }, fold: true, rootId: "orders", apart: [] };
        const found = narrow(whole, origin);
        expect(found.nodes.find(({ id }) => id === ID)?.members?.map(({ id }) => id)).toEqual(["billing", "fraud"]);
        expect(found.nodes.map(({ id }) => id)).toEqual(expect.arrayContaining(["both", "writes"]));
        const declared = PICTURE.links.map((item) =>
            item.target === "both" && item.source === "payments" ? { ...item, origin: "declared" } : item,
        );
        const members = narrow({ ...whole, links: declared }, origin).nodes.flatMap((item) => item.members ?? []);
        expect(members.map(({ id }) => id)).toEqual(["billing", "fraud"]);
    });

    test("are in CSV by their names", () => {
        const picture = { nodes, links, columns: [], truncated: "", settling: false };
        const rows = linkRows(picture, { changes: undefined, flows: undefined });
        expect(rows).toHaveLength(1 + PICTURE.links.length);
        expect(rows.flat()).not.toContain("3 consumer groups");
        const row = (group: string, ...about: (string | number | undefined)[]) => [
            ...["dataset", "kafka://broker", "orders", "job", "kafka://broker", group],
            ...about,
            ...["", ""],
        ];
        const ofMembers = (found: typeof rows) =>
            found.filter((each) => /^(billing|fraud|mail)$/.test(String(each[5])));
        expect(ofMembers(rows)).toEqual([
            row("billing", "observed", "current", ""),
            row("fraud", "observed", "current", ""),
            row("mail", "declared", "current", ""),
        ]);
        const flow = (rate: number, last: string) =>
            ({ rowsPerSecond: rate, last, label: "", width: 1, tone: "good" }) as const;
        const flows = new Map([
            ["orders>billing", flow(2, "2026-01-01T00:00:00Z")],
            ["orders>mail", flow(3, "2026-01-02T00:00:00Z")],
        ]);
        const changes = new Map([["orders>fraud", "changed"]] as const);
        expect(ofMembers(linkRows(picture, { changes, flows }))).toEqual([
            row("billing", "observed", "current", "", "", "alive", 2, "2026-01-01T00:00:00Z"),
            row("fraud", "observed", "current", "", "changed", "silent", undefined, undefined),
            row("mail", "declared", "current", "", "", "alive", 3, "2026-01-02T00:00:00Z"),
        ]);
    });

    test("have on their link what flows to all of them", () => {
        const told = ["billing", "mail"].map((name, rate) => ({
            job: { id: name, kind: "job", namespace: "kafka://broker", name } as const,
            dataset: { id: "orders", kind: "dataset", namespace: "kafka://broker", name: "orders" } as const,
            ...{ side: "input" as const, last: `2026-01-0${rate + 1}T00:00:00Z`, rows_per_second: rate + 2 },
        }));
        const answer = { at: "2026-01-03T00:00:00Z", window_s: 3600, flows: told, truncated: false };
        const found = ratesOf({ ...answer, settling: false, position: "" }, links, new Map(), new Set(["orders"]));
        expect(found.get(`orders>${ID}`)).toMatchObject({
            ...{ rowsPerSecond: 5, last: "2026-01-02T00:00:00Z", label: "5.0 rows/s", tone: "warn" },
        });
    });
});
