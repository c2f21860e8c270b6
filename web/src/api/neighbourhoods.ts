/** What a neighbourhood is for the page, and whether it is still the same when it is asked for again. Pure. */

import type { Schemas } from "./client";

export type Neighbourhood = Schemas["NeighbourhoodAnswer"] & {
    /** The number of the request that it answered; none if the page read it itself. */
    edition?: number;
};

export interface RereadRequest {
    number: number;
    /** Which question it answers. */
    key: string;
    /** The answer, not yet read. */
    answer: ArrayBuffer;
    /** The first answer to the question, if the page read that one itself. */
    first?: string | undefined;
    /** The edition of the answer that the page has: one that it was given may have been thrown away. */
    edition?: number | undefined;
}

export interface Reread {
    number: number;
    /** Undefined if nothing that the page shows differs from the answer before. */
    changed?: Neighbourhood | undefined;
    error?: string;
}

/** Of so many questions the answer before is kept; of another one, it counts as changed. */
const KEPT = 8;

/**
 * An answer without the times at which its links were last seen, and the position until which it is folded: nothing shows them, and
 * without them an answer in which nothing else changed is the one before, so that nothing is drawn again.
 */
export function lasting(answer: Neighbourhood): Neighbourhood {
    for (const dated of [...answer.edges, ...answer.ports, ...answer.nodes.map(({ details }) => details)]) {
        delete dated?.last_seen;
    }
    for (const { details } of answer.nodes) {
        delete details?.last_written;
        delete details?.last_read;
    }
    return { ...answer, position: "" };
}

/** Reads answers again and again, and passes on those that differ from the one before. */
export class Rereader {
    private readonly before = new Map<string, { edition: number | undefined; text: string }>();

    read({ number, key, answer, first, edition }: RereadRequest): Reread {
        const found = lasting(JSON.parse(new TextDecoder().decode(answer)) as Neighbourhood);
        const text = JSON.stringify(found);
        const kept = this.before.get(key);
        const known =
            first !== undefined
                ? JSON.stringify(lasting(JSON.parse(first) as Neighbourhood))
                : kept?.edition === edition
                  ? kept?.text
                  : undefined;
        const isSame = known === text;
        this.keep(key, isSame ? edition : number, text);
        return isSame ? { number } : { number, changed: { ...found, edition: number } };
    }

    private keep(key: string, edition: number | undefined, text: string): void {
        this.before.delete(key);
        this.before.set(key, { edition, text });
        const [oldest] = this.before.keys();
        if (this.before.size > KEPT && oldest !== undefined) this.before.delete(oldest);
    }
}
