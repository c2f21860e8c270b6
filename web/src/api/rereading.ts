/** Answers that are asked for again are read by a worker, which says whether anything changed: to read a long one takes many frames. */

import { Problem } from "./client";
import type { Neighbourhood, Reread, RereadRequest } from "./neighbourhoods";

const firsts = new WeakMap<Neighbourhood, string>();
const waiting = new Map<number, { resolve: (found: Reread) => void; reject: (failure: Error) => void }>();
let worker: Worker | undefined;
let number = 0;

/** Keeps the text of the first answer to a question, so that the next one can be compared with it. */
export function keepFirst(answer: Neighbourhood, text: string): Neighbourhood {
    firsts.set(answer, text);
    return answer;
}

/** The answer, or the one before if nothing that the page shows differs. Throws Problem if it cannot be read. */
export async function reread(before: Neighbourhood, key: string, answer: ArrayBuffer): Promise<Neighbourhood> {
    const found = await new Promise<Reread>((resolve, reject) => {
        number += 1;
        waiting.set(number, { resolve, reject });
        const request: RereadRequest = { number, key, answer, first: firsts.get(before), edition: before.edition };
        firsts.delete(before);
        workerOf().postMessage(request, [answer]);
    });
    if (found.error !== undefined) throw new Problem(0, "unreadable", found.error, "reload the page");
    return found.changed ?? before;
}

function workerOf(): Worker {
    if (worker) return worker;
    const made = new Worker(new URL("./neighbourhoods.worker.ts", import.meta.url), { type: "module" });
    made.onmessage = ({ data }: MessageEvent<Reread>) => {
        waiting.get(data.number)?.resolve(data);
        waiting.delete(data.number);
    };
    made.onerror = ({ message }) => {
        const failure = new Problem(0, "unreadable", message || "the answer could not be read", "reload the page");
        waiting.forEach(({ reject }) => reject(failure));
        waiting.clear();
        worker = undefined;
    };
    worker = made;
    return made;
}
