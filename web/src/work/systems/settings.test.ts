import { expect, test } from "vitest";

import { read, refused, shapeOf, usualOf, type Setting } from "./settings";

const setting = (name: string, usual: unknown, more: Partial<Setting> = {}): Setting => ({
    name,
    default: usual,
    description: "",
    required: false,
    secret: false,
    many: false,
    ...more,
});
const SETTINGS = [
    setting("url", null, { required: true }),
    setting("password", null, { secret: true }),
    setting("check", true),
    setting("topics", null, { many: true }),
    setting("mapping", {}),
    setting("interval_s", 60),
    setting("username", ""),
];

function given(texts: Record<string, string>) {
    return read(SETTINGS, (name) => texts[name] ?? "");
}

test("what is given is of the shape that its setting has by default", () => {
    expect(SETTINGS.map(shapeOf)).toEqual(["value", "text", "flag", "lines", "value", "value", "text"]);
    const texts = {
        url: "http://connect:8083",
        password: "${env:PASSWORD}",
        check: "no",
        topics: 'a \n\n42\n{"b": 1}',
        mapping: '{"a": 1}',
        interval_s: "5",
        username: "7",
    };
    expect(given(texts)).toEqual({
        values: { ...texts, check: false, topics: ["a", "42", { b: 1 }], mapping: { a: 1 }, interval_s: 5 },
        errors: {},
    });
});

test("what is left empty is left out, unless it is required", () => {
    expect(given({})).toEqual({ values: {}, errors: { url: "It is missing." } });
});

test("a secret is never read as itself", () => {
    const { values, errors } = given({ url: "x", password: "hunter2" });
    expect(values).toEqual({ url: "x" });
    expect(errors.password).toContain("${env:NAME}");
});

test("a refusal belongs to the fields that it names", () => {
    expect(
        refused({ "settings.interval_s": "Not a number.", "settings.mapping.a": "No.", name: "Taken." }, SETTINGS),
    ).toEqual({
        "setting.interval_s": "Not a number.",
        "setting.mapping": "No.",
        name: "Taken.",
    });
    expect(refused({ "settings.nosuch": "No.", body: "No." }, SETTINGS)).toEqual({});
});

test("what a setting usually is, is a text", () => {
    expect(SETTINGS.map(usualOf)).toEqual(["", "", "true", "", "{}", "60", ""]);
});
