import { expect, test } from "vitest";

import { linesOf, refusedName, textOf } from "./fields";

test("a refused name is said at its field", () => {
    for (const message of [
        "'a b' is not a valid source name",
        "'a' is not a valid name of a key",
        "source a already exists",
    ])
        expect(refusedName({ message, hint: "choose another" })).toEqual({ name: `${message}: choose another.` });
    expect(refusedName({ message: "the key 'a' has no scope", hint: "" })).toBeUndefined();
});

test("texts and lines are without blanks", () => {
    const given = new FormData();
    given.set("a", " x ");
    expect([textOf(given, "a"), textOf(given, "b")]).toEqual(["x", ""]);
    expect(linesOf(" a \n\n b")).toEqual(["a", "b"]);
});
