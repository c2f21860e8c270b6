import { QueryClient, QueryObserver } from "@tanstack/react-query";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";

// Without a window, nothing is asked for again.
vi.hoisted(() => vi.stubGlobal("window", globalThis));

describe("the list of jobs", () => {
    let asked = 0;

    beforeEach(() => {
        asked = 0;
        vi.useFakeTimers();
        vi.stubGlobal("document", { baseURI: "http://localhost/", visibilityState: "visible" });
        vi.stubGlobal("sessionStorage", { getItem: () => null });
        vi.stubGlobal("fetch", () => {
            asked += 1;
            return Promise.resolve(Response.json([]));
        });
    });

    afterEach(() => {
        vi.useRealTimers();
        vi.unstubAllGlobals();
    });

    /** How often the list is asked for in 59 seconds in which it is opened twice. */
    async function askedFor(filters: Record<string, string>): Promise<number> {
        const { jobs } = await import("./lists");
        const queries = new QueryClient();
        const list = jobs({ filters, offset: 0 });
        const close = new QueryObserver(queries, list).subscribe(() => undefined);
        await vi.advanceTimersByTimeAsync(30_000);
        close();
        const closeAgain = new QueryObserver(queries, list).subscribe(() => undefined);
        await vi.advanceTimersByTimeAsync(29_000);
        closeAgain();
        queries.clear();
        return asked;
    }

    test.each([{ type: "SPARK" }, { state: "FAIL" }])(
        "by %o reads much of the graph, so it is asked for once",
        async (filters) => {
            expect(await askedFor(filters)).toBe(1);
        },
    );

    test("by name is asked for now and again", async () => {
        expect(await askedFor({ name: "*orders*" })).toBeGreaterThan(2);
    });
});
