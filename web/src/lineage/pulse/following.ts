/** Follows the pulse: the server pushes what changes for as long as the page is looked at. */

import { answered, client, problemOf, type Problem } from "../../api/client";
import { EventReader } from "../../api/events";
import type { PulseQuestion } from "../../api/questions";

/** A stream without any event after this time is held back by a proxy, in milliseconds. */
const FIRST_MS = 10_000;
/** The server writes at least every 15 seconds; a stream that is silent for longer than this is lost. */
const SILENT_MS = 45_000;
const AGAIN_MS = 2_000;
/** After this time a stream that was refused is tried again. */
const REFUSED_MS = 60_000;

export interface Followers {
    /** The text of an event `rates`. */
    take: (text: string) => void;
    fail: (problem: Problem) => void;
    /** Whether the server pushes; if not, the page has to ask. */
    turn: (isPushed: boolean) => void;
}

/** Follows until `signal`, while the page can be seen. A stream that ends is begun again. */
export async function follow(question: PulseQuestion, followers: Followers, signal: AbortSignal): Promise<void> {
    const isOver = () => signal.aborted;
    while (!isOver()) {
        await untilSeen(signal);
        if (isOver()) return;
        const isPushed = await readStream(question, followers, signal);
        if (isOver()) return;
        followers.turn(isPushed);
        await pause(isPushed ? AGAIN_MS : REFUSED_MS, signal);
    }
}

/** Reads one stream to its end. Returns whether it was one: whether any event came, or nobody looks any more. */
async function readStream(question: PulseQuestion, followers: Followers, signal: AbortSignal): Promise<boolean> {
    const over = new AbortController();
    const end = () => over.abort();
    const hide = () => document.hidden && over.abort();
    signal.addEventListener("abort", end);
    document.addEventListener("visibilitychange", hide);
    let silence = setTimeout(end, FIRST_MS);
    let hasBegun = false;
    try {
        const body = await answered(
            client.GET("/api/v1/graph/pulse/stream", {
                signal: over.signal,
                params: { query: question },
                parseAs: "stream",
            }),
        );
        const [reader, events] = [(body as ReadableStream<Uint8Array>).getReader(), new EventReader()];
        for (let piece = await reader.read(); !piece.done; piece = await reader.read()) {
            for (const { name, data } of events.read(piece.value)) {
                if (name === "rates") {
                    followers.take(data);
                    if (!hasBegun) followers.turn(true);
                    hasBegun = true;
                }
                if (name === "problem") followers.fail(problemOf(503, JSON.parse(data)));
            }
            if (!hasBegun) continue;
            clearTimeout(silence);
            silence = setTimeout(end, SILENT_MS);
        }
    } catch {
        // Whatever is wrong with the question, the page learns by asking it.
    } finally {
        clearTimeout(silence);
        over.abort();
        signal.removeEventListener("abort", end);
        document.removeEventListener("visibilitychange", hide);
    }
    return hasBegun || document.hidden;
}

async function untilSeen(signal: AbortSignal): Promise<void> {
    while (document.hidden && !signal.aborted) {
        await new Promise<void>((resolve) => {
            const done = () => {
                document.removeEventListener("visibilitychange", done);
                signal.removeEventListener("abort", done);
                resolve();
            };
            document.addEventListener("visibilitychange", done);
            signal.addEventListener("abort", done);
        });
    }
}

async function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
    await new Promise<void>((resolve) => {
        const timer = setTimeout(done, milliseconds);
        function done() {
            clearTimeout(timer);
            signal.removeEventListener("abort", done);
            resolve();
        }
        signal.addEventListener("abort", done);
    });
}
