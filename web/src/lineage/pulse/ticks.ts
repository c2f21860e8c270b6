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
    /** Not yet read: the server's whole answer about the pulse, or the text of an event with what has changed in it. */
    answer?: ArrayBuffer | string;
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

type Change = Schemas["PulseChange"];

export class Rates {
    private subject: PulseSubject | undefined;
    private last: Schemas["PulseAnswer"] | undefined;
    private readonly items = new Map<string, Schemas["PulseItem"]>();
    private flows: ReadonlyMap<string, Flow> = new Map();
    private isWhole = false;

    /** The tick that follows from a request; nothing before there are both rates and links. */
    answer({ answer, subject }: PulseRequest): Tick | undefined {
        if (subject) {
            this.subject = subject;
            this.isWhole = true;
        }
        if (answer !== undefined) this.last = this.joined(answer);
        if (!this.subject || !this.last) return undefined;
        const isWhole = this.isWhole;
        const before = isWhole ? new Map<string, Flow>() : this.flows;
        const { links, heads, asked } = this.subject;
        this.flows = ratesOf(this.last, links, heads, asked);
        this.isWhole = false;
        return {
            at: this.last.at,
            isWhole,
            changed: [...this.flows].filter(([id, flow]) => !isSame(before.get(id), flow)),
            gone: [...before.keys()].filter((id) => !this.flows.has(id)),
        };
    }

    /** All rates, after an answer with all of them, or with those that have changed. */
    private joined(answer: ArrayBuffer | string): Schemas["PulseAnswer"] {
        const text = typeof answer === "string" ? answer : new TextDecoder().decode(answer);
        const {
            gone = [],
            is_whole: isWhole = true,
            ...news
        } = JSON.parse(text) as Partial<Change> & Schemas["PulseAnswer"];
        if (isWhole) this.items.clear();
        for (const { job, dataset, side } of gone) this.items.delete(`${job}|${dataset}|${side}`);
        for (const item of news.flows) this.items.set(`${item.job.id}|${item.dataset.id}|${item.side}`, item);
        return { ...news, flows: [...this.items.values()] };
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
