import { describe, expect, test } from "vitest";

import { columnsOf, descriptionOf, jobTypeOf, ownersOf, tagsOf } from "./facets";

const FACETS = {
    ownership: { owners: [{ name: "team:a", type: "MAINTAINER" }, { name: "team:a" }, { name: "b" }] },
    tags: {
        tags: [
            { key: "gold", value: "true" },
            { key: "tier", value: "1" },
            { key: "pii", value: "email", field: "mail" },
        ],
    },
    documentation: { description: "Orders." },
    schema: { fields: [{ name: "id" }, { name: "mail" }] },
    jobType: { processingType: "STREAMING", integration: "FLINK", jobType: "SQL_JOB" },
};

describe("facets", () => {
    test("have owners, tags, a description, columns and a type of job", () => {
        expect(ownersOf(FACETS)).toEqual(["team:a", "b"]);
        expect(tagsOf(FACETS)).toEqual(["gold", "tier=1"]);
        expect(descriptionOf(FACETS)).toBe("Orders.");
        expect(columnsOf(FACETS)).toBe(2);
        expect(jobTypeOf(FACETS)).toBe("flink streaming sql job");
    });

    test.each([
        {},
        { ownership: null, tags: [], documentation: "x", schema: 1, jobType: [] },
        { ownership: { owners: {} }, tags: { tags: [null, 1, { key: 2 }] }, documentation: { description: 3 } },
        { ownership: { owners: [{ name: {} }] }, jobType: { integration: 5 } },
    ])("that nobody stated, or that have other shapes, say nothing", (facets) => {
        expect(ownersOf(facets)).toEqual([]);
        expect(tagsOf(facets)).toEqual([]);
        expect(descriptionOf(facets)).toBe("");
        expect(columnsOf(facets)).toBeUndefined();
        expect(jobTypeOf(facets)).toBe("");
    });
});
