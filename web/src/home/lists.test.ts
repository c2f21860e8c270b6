import { expect, test } from "vitest";

import { workOf } from "../address/work";
import { listOfSystem, literal } from "./lists";

const named = (...names: string[]) => names.map((namespace) => ({ namespace }));

test("a namespace is asked for as it is written", () => {
    expect(literal("a*b?[c]")).toBe("a[*]b[?][[]c]");
    expect(literal("kafka://broker:9092")).toBe("kafka://broker:9092");
});

test("a system leads to its namespaces, where one glob fits them", () => {
    expect(listOfSystem("kafka", named("kafka://a", "kafka://b"))).toEqual(
        workOf("datasets", { namespace: "kafka://*" }),
    );
    expect(listOfSystem("bigquery", named("bigquery"))).toEqual(workOf("datasets", { namespace: "bigquery" }));
    expect(listOfSystem("other", named("ns", "more"))).toBeUndefined();
    expect(listOfSystem("none", [])).toBeUndefined();
});
