import createClient from "openapi-fetch";

import type { components, paths } from "./schema";

export type Schemas = components["schemas"];
export type GraphNode = Schemas["GraphNode"];
export type WalkNode = Schemas["WalkNode"];
export type GraphEdge = Schemas["GraphEdge"];

const KEY = "lineage-bridge-key";

/** The API key that this browser tab sends; empty if it sends none. */
export function apiKey(): string {
    return sessionStorage.getItem(KEY) ?? "";
}

export function keepApiKey(key: string): void {
    if (key === "") sessionStorage.removeItem(KEY);
    else sessionStorage.setItem(KEY, key);
}

/** What the server refused or could not answer: its code, its sentence, and what to do. */
export class Problem extends Error {
    constructor(
        readonly status: number,
        readonly code: string,
        message: string,
        readonly hint = "",
        readonly near: { namespace: string; name: string }[] = [],
    ) {
        super(message);
    }
}

export const client = createClient<paths>({ baseUrl: document.baseURI.replace(/\/$/, "") });

client.use({
    onRequest({ request }) {
        const key = apiKey();
        if (key !== "") request.headers.set("Authorization", `Bearer ${key}`);
        return request;
    },
});

interface Answered<T> {
    data?: T;
    error?: unknown;
    response: Response;
}

/** The answer of a call. Throws Problem for every other one, also if the server cannot be reached. */
export async function answered<T>(call: Promise<Answered<T>>): Promise<T> {
    let answer: Answered<T>;
    try {
        answer = await call;
    } catch (failure) {
        if (failure instanceof DOMException && failure.name === "AbortError") throw failure;
        throw new Problem(
            0,
            "unreachable",
            "the server does not answer",
            "check that it runs; this page asks again by itself",
        );
    }
    if (answer.data !== undefined) return answer.data;
    throw problem(answer.response.status, answer.error);
}

function problem(status: number, body: unknown): Problem {
    const error = isRecord(body) && isRecord(body.error) ? body.error : {};
    const near = Array.isArray(error.near) ? error.near.filter(isName) : [];
    return new Problem(
        status,
        text(error.code, "unknown"),
        text(error.message, `status ${status}`),
        text(error.hint, ""),
        near,
    );
}

function isRecord(value: unknown): value is Record<string, unknown> {
    return typeof value === "object" && value !== null;
}

function isName(value: unknown): value is { namespace: string; name: string } {
    return isRecord(value) && typeof value.namespace === "string" && typeof value.name === "string";
}

function text(value: unknown, otherwise: string): string {
    return typeof value === "string" ? value : otherwise;
}
