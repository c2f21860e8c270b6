import createClient from "openapi-fetch";

import { sentence } from "../format/text";
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

/** What a page sends with what it writes: for a browser that has signed in, the token of its session. */
export function writeHeaders(session: Schemas["SessionInfo"] | undefined): Record<string, string> {
    return { "X-CSRF-Token": session?.csrf_token ?? "" };
}

/** What the server refused or could not answer: its code, its sentence, and what to do. */
export class Problem extends Error {
    constructor(
        readonly status: number,
        readonly code: string,
        message: string,
        readonly hint = "",
        readonly near: { namespace: string; name: string }[] = [],
        /** What is wrong with members of the request, by their paths. */
        readonly fields: Readonly<Record<string, string>> = {},
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
    return (await successful(call)).data;
}

/** One page of a list. */
export interface Page<T> {
    items: T[];
    hasNext: boolean;
    /** The offset of the page behind it, where that is not how many entries come before it. */
    next?: number;
}

/** The page that a call answers, whose header `Link` leads to the next one, if there is one. Throws Problem. */
export async function paged<A, T>(call: Promise<Answered<A>>, itemsOf: (answer: A) => T[]): Promise<Page<T>> {
    const { data, response } = await successful(call);
    const link = response.headers.get("Link") ?? "";
    const next = Number(/[?&]offset=(\d+)/.exec(link)?.[1]);
    return {
        items: itemsOf(data),
        hasNext: /rel="?next"?/.test(link),
        ...(Number.isSafeInteger(next) ? { next } : {}),
    };
}

async function successful<T>(call: Promise<Answered<T>>): Promise<{ data: T; response: Response }> {
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
    if (answer.data !== undefined) return { data: answer.data, response: answer.response };
    throw problemOf(answer.response.status, answer.error);
}

/** What an answer that is an error says. */
export function problemOf(status: number, body: unknown): Problem {
    // A rejected event is answered with its reason alone.
    const own = isRecord(body) ? body : {};
    const error = isRecord(own.error) ? own.error : own;
    const near = Array.isArray(error.near) ? error.near.filter(isName) : [];
    const fields = Array.isArray(error.fields) ? error.fields.filter(isField) : [];
    return new Problem(
        status,
        text(error.code, "unknown"),
        text(error.message, `status ${status}`),
        text(error.hint, ""),
        near,
        Object.fromEntries(fields.map(({ path, reason }) => [path, sentence(reason)])),
    );
}

function isRecord(value: unknown): value is Record<string, unknown> {
    return typeof value === "object" && value !== null;
}

function isName(value: unknown): value is { namespace: string; name: string } {
    return isRecord(value) && typeof value.namespace === "string" && typeof value.name === "string";
}

function isField(value: unknown): value is { path: string; reason: string } {
    return isRecord(value) && typeof value.path === "string" && typeof value.reason === "string";
}

function text(value: unknown, otherwise: string): string {
    return typeof value === "string" ? value : otherwise;
}
