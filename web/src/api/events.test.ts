import { expect, test } from "vitest";

import { EventReader } from "./events";

const bytes = (text: string) => new TextEncoder().encode(text);

test("events are read from any pieces, also if one ends within a character", () => {
    const text = bytes('retry: 2000\n\nevent: rates\ndata: {"a":"é"}\n\n:\n\nevent: end\ndata: {}\n\n');
    for (let at = 1; at < text.length; at++) {
        const reader = new EventReader();
        const found = [...reader.read(text.slice(0, at)), ...reader.read(text.slice(at))];
        expect(found).toEqual([
            { name: "rates", data: '{"a":"é"}' },
            { name: "end", data: "{}" },
        ]);
    }
});

test("an event that is not complete is kept for the next piece", () => {
    const reader = new EventReader();
    expect(reader.read(bytes("event: rates\ndata: 1\n"))).toEqual([]);
    expect(reader.read(bytes("\n"))).toEqual([{ name: "rates", data: "1" }]);
});
