import { expect, test } from "vitest";

import { markColumns } from "./sql";

/** The marked names, with what they are. */
function marked(sql: string, from: string[], into: string[] = []): string[] {
    const parts = markColumns(sql, from, into);
    expect(parts.map(({ text }) => text).join("")).toBe(sql);
    return parts.flatMap(({ text, role }) => (role === undefined ? [] : [`${role} ${text}`]));
}

test("columns that a flow comes from and goes into are marked, in any case", () => {
    const sql = "INSERT INTO t SELECT o.Amount * quantity AS REVENUE, id FROM orders o";
    expect(marked(sql, ["amount", "quantity"], ["revenue"])).toEqual(["from Amount", "from quantity", "into REVENUE"]);
});

test("a column that is both is marked as both", () => {
    expect(marked("SELECT id FROM t", ["id"], ["id"])).toEqual(["both id"]);
});

test("a table before a dot and a function before a parenthesis are no columns", () => {
    expect(marked("SELECT count (x), count.y, z.count FROM count . q", ["count"])).toEqual(["from count"]);
});

test("what is in comments, literals and numbers is no column", () => {
    const sql = "SELECT 'amount', 'it''s amount' -- amount\n, /* amount */ 1e5, amount";
    expect(marked(sql, ["amount", "e5"])).toEqual(["from amount"]);
    expect(marked("SELECT a /* amount", ["amount"])).toEqual([]);
    expect(marked("SELECT a, 'amount", ["amount"])).toEqual([]);
});

test("a quoted name is compared exactly", () => {
    expect(marked('SELECT "Amount", `amount`, `we``ird` FROM t', ["amount", "we`ird"])).toEqual([
        "from `amount`",
        "from `we``ird`",
    ]);
});

test("the names of a column with dots are marked together", () => {
    expect(marked("SELECT r.payload.total, total, payload FROM r", ["payload.total"])).toEqual(["from payload.total"]);
});

test("names of any script, and a text that is no SQL, are safe", () => {
    expect(marked("SELECT größe FROM t", ["größe"])).toEqual(["from größe"]);
    expect(marked("\"'`<script>[$(", ["script"])).toEqual([]);
    expect(marked("", ["x"])).toEqual([]);
});
