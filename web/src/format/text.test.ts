import { describe, expect, test } from "vitest";

import { ago, breakable, csv, elided, visible, whole } from "./text";

test("long names keep their end", () => {
    expect(elided("short", 10)).toBe("short");
    expect(elided("commerce.public.orders_enriched_daily", 20)).toBe("commerc…riched_daily");
    expect(Array.from(elided("😀".repeat(50), 9))).toHaveLength(9);
});

test("a name is broken behind its dividers, and stays whole", () => {
    expect(breakable("a.b_c")).toEqual(["a.", "b_", "c"]);
    for (const name of ["", "..", "a b", "kafka://b:9/x", "-a-"]) expect(breakable(name).join("")).toBe(name);
});

test("characters that turn the direction of writing are shown", () => {
    expect(visible("a\u202Eb\u0000")).toBe("a⟨U+202E⟩b⟨U+0000⟩");
});

test("no control character is hidden", () => {
    for (let code = 0; code < 0x2100; code++) {
        const character = String.fromCodePoint(code);
        if (/\p{Cc}/u.test(character)) expect(visible(character)).toMatch(/^⟨U\+[0-9A-F]{4}⟩$/);
    }
});

test("whole numbers are in groups of three digits, as the language writes them", () => {
    const format = new Intl.NumberFormat("en");
    for (const count of [0, 7, -7, 999, 1000, -1000, 12_345, 123_456, 1_234_567, 2 ** 53])
        expect(whole(count)).toBe(format.format(count));
});

describe("times", () => {
    const now = Date.parse("2026-05-02T00:00:00Z");
    test.each([
        ["2026-05-02T00:00:00Z", "now"],
        ["2026-05-01T23:59:30Z", "30 s ago"],
        ["2026-05-01T22:30:00Z", "1 h 30 min ago"],
        ["2026-04-29T00:00:00Z", "3 d ago"],
        ["no time", "no time"],
    ])("%s", (time, words) => expect(ago(time, now)).toBe(words));
});

test("a CSV file has no formulas, and quotes what has to be quoted", () => {
    expect(csv([["a,b", 'c"d', "=1+1", -1, undefined]])).toBe('"a,b","c""d",\'=1+1,-1,\r\n');
});
