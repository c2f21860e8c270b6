import { expect, test } from "vitest";

import { schemaWords } from "./schemaWords";

test("columns that came, went and have another type are named", () => {
    const words = schemaWords({
        added: [{ path: ["email"], type: "string" }, { path: ["address", "zip"] }],
        removed: [{ path: ["phone"] }],
        changed: [{ path: ["id"], before: "int" }],
    });
    expect(words).toBe("added email, address.zip; removed phone; id: int is now no type");
});

test("a schema of the same columns has them in another order", () => {
    expect(schemaWords({ added: [], removed: [], changed: [] })).toBe("the order of the columns changed");
});
