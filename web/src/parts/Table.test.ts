import { expect, test } from "vitest";

import { csvRows, type Column } from "./Table";

test("a CSV file has what its columns name, and leaves out those that are buttons", () => {
    const columns: Column<{ namespace: string; name: string; count?: number }>[] = [
        { head: "Name", cell: () => null, csv: { namespace: (row) => row.namespace, name: (row) => row.name } },
        { head: "Change", cell: () => null },
        { head: "Count", cell: () => null, csv: { count: (row) => row.count } },
    ];
    expect(
        csvRows(columns, [
            { namespace: "a", name: "b", count: 2 },
            { namespace: "a", name: "" },
        ]),
    ).toEqual([
        ["namespace", "name", "count"],
        ["a", "b", 2],
        ["a", "", undefined],
    ]);
});
