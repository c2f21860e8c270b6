import { QueryClient, QueryObserver } from "@tanstack/react-query";
import { beforeAll, describe, expect, test, vi } from "vitest";

import { impactOf, withoutRoot, withRoot } from "../address/impact";
import type { NodeRef } from "../address/view";

const named = (name: string): NodeRef => ({ kind: "dataset", namespace: "ns", name });
const of = impactOf(named("a"), named("b"), named("c"));

describe("a blast radius", () => {
    let impact: typeof import("./reach").impact;

    beforeAll(async () => {
        vi.stubGlobal("document", { baseURI: "http://localhost/" });
        ({ impact } = await import("./reach"));
    });

    test.each([
        ["the other direction", { ...of, direction: "upstream" as const }],
        ["one node more", withRoot(of, named("d"))],
        ["one node less", withoutRoot(of, named("b"))],
        ["other nodes", impactOf(named("x"), named("y"))],
    ])("is never shown as the answer for %s", (_, view) => {
        const queries = new QueryClient();
        queries.setQueryData(impact(of).queryKey, {} as never);
        const observer = new QueryObserver(queries, impact(of));
        expect(observer.getCurrentResult().data).toBeDefined();
        observer.setOptions(impact(view));
        expect(observer.getCurrentResult().data).toBeUndefined();
    });
});
