import { expect, test } from "vitest";

import { workOf } from "../address/work";
import { literal } from "../format/glob";
import { listOfSystem } from "./lists";

const named = (...names: string[]) => names.map((namespace) => ({ namespace }));

test("a namespace is asked for as it is written", () => {
    expect(literal("a*b?[c]")).toBe("a[*]b[?][[]c]");
    expect(literal("kafka://broker:9092")).toBe("kafka://broker:9092");
});

const counted = (system: string, ...names: string[]) => ({
    system,
    namespaces: names.length,
    largest: named(...names),
});
const listOf = (...systems: [ReturnType<typeof counted>, ...ReturnType<typeof counted>[]]) =>
    listOfSystem(systems[0], systems);

test("a system leads to its namespaces, where one glob fits them", () => {
    const kafka = counted("kafka", "kafka://a", "kafka://b");
    expect(listOf(kafka)).toEqual(workOf("datasets", { namespace: "kafka://*" }));
    expect(listOf(counted("bigquery", "bigquery"))).toEqual(workOf("datasets", { namespace: "bigquery" }));
    expect(listOf(counted("other", "ns", "more"))).toBeUndefined();
    expect(listOf(counted("none"))).toBeUndefined();
});

test("a glob that may leave some out, or fit those of another system, is no list of the system", () => {
    const kafka = counted("kafka", "kafka://a", "kafka://b");
    expect(listOf({ ...kafka, namespaces: 11 })).toBeUndefined();
    expect(listOf(kafka, counted("confluent", "kafka://pkc-1.eu.confluent.cloud:9092"))).toBeUndefined();
});
