/** One state of the rates after the other: what changed from one to the next, so that nothing else is told, or drawn. Pure. */

import type { Schemas } from "../../api/client";
import type { Picture } from "../picture/picture";
import { ratesOf, type Flow } from "./rates";

/** What the rates are asked for: the links of a picture, as `ratesOf` takes them. */
export interface PulseSubject {
    links: Picture["links"];
    heads: ReadonlyMap<string, string>;
    asked: ReadonlySet<string>;
}

export interface PulseRequest {
    /** The server's answer about the pulse, not yet read. */
    answer: ArrayBuffer;
    /** Only where it is another one than at the request before. */
    subject?: PulseSubject;
}

export interface Tick {
    /** The time that the rates are of. */
    at: string;
    /** Whether `changed` has the flows of all links. */
    isWhole: boolean;
    changed: [string, Flow][];
    gone: string[];
}

export class Rates {
    private subject: PulseSubject = { links: [], heads: new Map(), asked: new Set() };
    private flows: ReadonlyMap<string, Flow> = new Map();

    answer({ answer, subject }: PulseRequest): Tick {
        const before = subject ? new Map<string, Flow>() : this.flows;
        this.subject = subject ?? this.subject;
        const { links, heads, asked } = this.subject;
        const told = JSON.parse(new TextDecoder().decode(answer)) as Schemas["PulseAnswer"];
        this.flows = ratesOf(told, links, heads, asked);
        return {
            at: told.at,
            isWhole: subject !== undefined,
            changed: [...this.flows].filter(([id, flow]) => !isSame(before.get(id), flow)),
            gone: [...before.keys()].filter((id) => !this.flows.has(id)),
        };
    }
}

function isSame(one: Flow | undefined, other: Flow): boolean {
    return (
        one?.last === other.last &&
        one.label === other.label &&
        one.width === other.width &&
        one.tone === other.tone &&
        JSON.stringify(one.lag) === JSON.stringify(other.lag)
    );
}
