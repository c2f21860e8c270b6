/** What flows on each link: how much, how long ago, and in what state. Pure. */

import type { Schemas } from "../../api/client";
import { ago } from "../../format/text";
import { toneOf, type Tone } from "../../parts/State";
import type { Picture } from "../picture/picture";
import { isLagging, shortWords, worse } from "./lag";

export interface Flow {
    rowsPerSecond: number | undefined;
    /** When rows were last reported within the window; empty if they were not. */
    last: string;
    label: string;
    /** Of the line, pixels; it grows with the logarithm of the rate. */
    width: number;
    tone: Tone;
    /** How far the reader is behind; the worst of several. */
    lag?: Schemas["LagAnswer"];
}

export interface Urgency {
    id: string;
    name: string;
    state: string;
    lag: Flow["lag"];
    /** How many nodes of the picture lie downstream. */
    reach: number;
}

/** The states of a link that say that nothing may flow on it any more: instead of its rate, it shows since when. */
export const UNSURE: ReadonlySet<string> = new Set(["silent", "gone"]);
const SEVERITY = ["gone", "fail", "silent", "abort", "lagging", "idle"];

/**
 * The flow on each of some links, by the link's id. `heads` leads from the id of a name to that of its node; only of links at the
 * nodes `asked` about does the answer know that nothing flowed. On a link with members flows what flows on all of these.
 */
export function ratesOf(
    answer: Schemas["PulseAnswer"],
    links: Picture["links"],
    heads: ReadonlyMap<string, string>,
    asked: ReadonlySet<string>,
): Map<string, Flow> {
    const head = (id: string) => heads.get(id) ?? id;
    const found = new Map<string, { rows: number | undefined; last: string; lag: Flow["lag"] }>();
    for (const { job, dataset, side, last, rows_per_second: rows, lag } of answer.flows) {
        const [source, target] = side === "input" ? [dataset, job] : [job, dataset];
        const id = `${head(source.id)}>${head(target.id)}`;
        const known = found.get(id);
        found.set(id, {
            rows: rows === undefined ? known?.rows : rows + (known?.rows ?? 0),
            last: known && known.last > last ? known.last : last,
            lag: worstOf([known?.lag, lag]),
        });
    }
    return new Map(
        links.flatMap((link): [string, Flow][] => {
            const members = link.members ?? [link];
            const flowing = members.flatMap(({ id }) => found.get(id) ?? []);
            if (flowing.length === 0 && link.liveness === "") return [];
            const rates = flowing.flatMap(({ rows }) => rows ?? []);
            const rows = rates.length === 0 ? undefined : rates.reduce((sum, rate) => sum + rate, 0);
            const last = flowing.reduce((latest, flow) => (flow.last > latest ? flow.last : latest), "");
            const isUnsure = members.every(({ liveness }) => UNSURE.has(liveness));
            const isKnown =
                !answer.truncated && members.every(({ source, target }) => asked.has(source) || asked.has(target));
            const since = last === "" ? (isKnown ? "no rows" : "") : `last rows ${ago(last, Date.parse(answer.at))}`;
            const lag = worstOf(flowing.map((flow) => flow.lag));
            const label = isUnsure ? since : labelOf(rows, lag);
            const flow = { rowsPerSecond: rows, last, label, width: widthOf(rows), tone: toneOf(link.liveness) };
            return [[link.id, lag ? { ...flow, lag } : flow]];
        }),
    );
}

function worstOf(lags: readonly Flow["lag"][]): Flow["lag"] {
    return lags.reduce<Flow["lag"]>((worst, lag) => (lag && worse(lag, worst) ? lag : worst), undefined);
}

function labelOf(rows: number | undefined, lag: Flow["lag"]): string {
    const behind = lag ? shortWords(lag) : "";
    if (behind === "") return rows === undefined ? "" : `${perSecond(rows)} rows/s`;
    return rows === undefined ? behind : `${perSecond(rows)}/s, ${behind}`;
}

export function perSecond(rows: number): string {
    return rows >= 100 ? String(Math.round(rows)) : rows >= 1 ? rows.toFixed(1) : rows.toPrecision(2);
}

function widthOf(rows: number | undefined): number {
    return rows === undefined ? 1.5 : Math.min(9, 2 + 1.6 * Math.log10(1 + 10 * rows));
}

/**
 * The jobs that need attention, the worst first; of two in one state, the one that more depends on. A job that lags behind what it reads
 * by its `flows` is `lagging`, unless its state is worse.
 */
export function worstFirst(picture: Picture, flows?: ReadonlyMap<string, Flow>): Urgency[] {
    const lags = new Map<string, Flow["lag"]>();
    for (const { id, target } of picture.links) lags.set(target, worstOf([lags.get(target), flows?.get(id)?.lag]));
    const stateOf = (id: string, state: string | undefined): string => {
        const lag = lags.get(id);
        const isWorse = SEVERITY.includes(state ?? "") && state !== "idle";
        return lag && isLagging(lag) && !isWorse ? "lagging" : (state ?? "");
    };
    const next = new Map<string, string[]>();
    for (const { source, target } of picture.links) next.set(source, [...(next.get(source) ?? []), target]);
    return picture.nodes
        .flatMap(({ id, name, details }): Urgency[] =>
            SEVERITY.includes(stateOf(id, details?.state))
                ? [{ id, name, state: stateOf(id, details?.state), lag: lags.get(id), reach: reachOf(id, next) }]
                : [],
        )
        .sort((a, b) => SEVERITY.indexOf(a.state) - SEVERITY.indexOf(b.state) || b.reach - a.reach);
}

function reachOf(start: string, next: ReadonlyMap<string, string[]>): number {
    const seen = new Set([start]);
    const open = [start];
    for (let id = open.pop(); id !== undefined; id = open.pop()) {
        for (const other of next.get(id) ?? []) {
            if (seen.has(other)) continue;
            seen.add(other);
            open.push(other);
        }
    }
    return seen.size - 1;
}
