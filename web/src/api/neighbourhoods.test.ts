import { expect, test } from "vitest";

import { lasting, Rereader, type Neighbourhood } from "./neighbourhoods";

function textOf(name: string, seen: string): string {
    const details = { last_seen: seen, last_read: seen, last_written: seen, system: "Kafka" };
    return JSON.stringify({
        position: seen,
        edges: [{ source: "a", target: "b", last_seen: seen }],
        ports: [{ node: "a", last_seen: seen }],
        nodes: [{ id: "a", name, details }, { id: "b" }],
    });
}

function answerOf(text: string): ArrayBuffer {
    return new TextEncoder().encode(text).buffer;
}

test("times at which something was last seen are in no answer of the page", () => {
    expect(JSON.stringify(lasting(JSON.parse(textOf("orders", "10:00")) as Neighbourhood))).not.toContain("10:00");
});

test("an answer that differs only in times is the one before", () => {
    const rereader = new Rereader();
    const first = textOf("orders", "10:00");
    expect(rereader.read({ number: 1, key: "k", answer: answerOf(textOf("orders", "10:01")), first })).toEqual({
        number: 1,
    });
    const other = rereader.read({ number: 2, key: "k", answer: answerOf(textOf("payments", "10:02")) });
    expect(other.changed?.nodes[0]?.name).toBe("payments");
    const again = { key: "k", answer: answerOf(textOf("payments", "10:03")), edition: other.changed?.edition };
    expect(rereader.read({ number: 3, ...again }).changed).toBe(undefined);
    expect(rereader.read({ number: 4, ...again }).changed).toBe(undefined);
});

test("an answer that the page threw away is not the one before", () => {
    const rereader = new Rereader();
    const answer = answerOf(textOf("payments", "10:01"));
    const thrown = rereader.read({ number: 1, key: "k", answer, first: textOf("orders", "10:00") });
    expect(thrown.changed).toBeDefined();
    expect(rereader.read({ number: 2, key: "k", answer }).changed).toBeDefined();
    const first = textOf("orders", "10:02");
    expect(rereader.read({ number: 3, key: "k", answer, first, edition: undefined }).changed?.edition).toBe(3);
});

test("another question, and one that was long ago, count as changed", () => {
    const rereader = new Rereader();
    const answer = () => answerOf(textOf("orders", "10:00"));
    for (let key = 0; key < 9; key++)
        expect(rereader.read({ number: key, key: `${key}`, answer: answer() }).changed).toBeDefined();
    expect(rereader.read({ number: 9, key: "8", answer: answer(), edition: 8 }).changed).toBe(undefined);
    expect(rereader.read({ number: 9, key: "0", answer: answer(), edition: 0 }).changed).toBeDefined();
});
