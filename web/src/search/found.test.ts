import { expect, test } from "vitest";

import { foundView } from "./found";

const found = (kind: "dataset" | "job", where?: string) => ({
    ...{ id: "00ff", kind, namespace: "n", name: "d" },
    ...(where === undefined ? {} : { matched: [{ in: where, text: "first.name" }] }),
});

test("what was found by a column is shown with that column, everything else by itself", () => {
    expect(foundView(found("dataset", "column"))).toMatchObject({ column: "00ff.first.name", open: ["00ff"] });
    for (const other of [found("dataset"), found("dataset", "tag"), found("job", "column")])
        expect(foundView(other)).toMatchObject({ column: "", open: [], root: { kind: other.kind, name: "d" } });
});
