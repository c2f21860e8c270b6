import { expect, test } from "vitest";

import { linesOf, textOf } from "./fields";

test("texts and lines are without blanks", () => {
    const given = new FormData();
    given.set("a", " x ");
    expect([textOf(given, "a"), textOf(given, "b")]).toEqual(["x", ""]);
    expect(linesOf(" a \n\n b")).toEqual(["a", "b"]);
});
