import { expect, test } from "vitest";

import { read } from "./newKey";

const SAME = { name: "etl", scopes: ["ingest"], namespaces: ["kafka://*"], teams: [], note: "" };
const GIVEN = { ...SAME, days: "90" };

test("days are seconds for the server, and none is no end", () => {
    expect(read(GIVEN)).toEqual({ key: { ...SAME, expires_in_s: 7_776_000 }, errors: {} });
    expect(read({ ...GIVEN, days: "" })).toEqual({ key: SAME, errors: {} });
});

test("what is missing or wrong is said at its field", () => {
    const { key, errors } = read({ ...GIVEN, name: "", scopes: [], days: "soon" });
    expect(key).toBeUndefined();
    expect(Object.keys(errors).sort()).toEqual(["days", "name", "scopes"]);
    expect(Object.keys(read({ ...GIVEN, days: "-1" }).errors)).toEqual(["days"]);
});
