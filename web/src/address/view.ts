/** What an address shows. The address is the only place where a view keeps its state, so every view can be linked to. */

import { aboutOf, type About } from "./about";
import { estateParameters, estateViewOf, type EstateView } from "./estate";
import { addFilter, filterOf, NO_FILTER, type PictureFilter } from "./filter";
import { addOthers, impactParameters, impactViewOf, type ImpactView } from "./impact";
import { addNodes, MOST_HOPS, nodesOf } from "./nodes";
import { filled, time, times, within, words } from "./parameters";
import { traceParameters, traceViewOf, type TraceView } from "./trace";
import { workAddress, workViewOf, type WorkView } from "./work";

export type Kind = "dataset" | "job";
export type Direction = "upstream" | "downstream";

/** A dataset or a job by its name, in whatever spelling. */
export interface NodeRef {
    kind: Kind;
    namespace: string;
    name: string;
}

/** One further hop at a node of the picture, by the node's id. */
export interface Expansion {
    id: string;
    direction: Direction;
}

export interface LineageView {
    page: "lineage";
    root: NodeRef;
    up: number;
    down: number;
    expansions: Expansion[];
    /** Ids of datasets that show their columns. */
    open: string[];
    selected: string;
    /** Nodes that are picked for one question about all of them. */
    picked: NodeRef[];
    /** Empty for the first that the node has. */
    about: About | "";
    column: string;
    as: "graph" | "list";
    /** How many hours the time bar spans; 0 without one. */
    bar: number;
    /** The lineage as of this time, RFC 3339; empty for now. */
    at: string;
    /** The time that it is compared with, RFC 3339; empty without comparison. */
    from: string;
    /** Rates and signs of life on the links: "live", or as of a time, RFC 3339; empty for none. */
    pulse: string;
    filter: PictureFilter;
    /** Jobs with one input and one output, and topics that a job has for itself, are part of the link through them. */
    fold: boolean;
    /** Ids of the bundles of consumer groups whose members are shown all the same. */
    apart: string[];
    /** Only what lies on this side of a node is shown, by the node's id. */
    keep: Expansion | undefined;
}

export interface LedgerView {
    page: "ledger";
    target: NodeRef;
    hours: number;
    /** The end of the window, RFC 3339; empty for now. */
    until: string;
    baseline: Baseline;
}

export interface PathsView {
    page: "paths";
    source: NodeRef;
    target: NodeRef;
}

/** A short link to another view. */
export interface PinView {
    page: "pin";
    id: string;
}

export interface SearchView {
    page: "search";
    text: string;
}

export type View =
    | { page: "home" }
    | EstateView
    | SearchView
    | LineageView
    | LedgerView
    | TraceView
    | ImpactView
    | PathsView
    | WorkView
    | PinView
    | { page: "unknown" };

export type Baseline = "yesterday" | "before" | "week";
const BASELINES: readonly Baseline[] = ["yesterday", "before", "week"];
const MOST_BAR_HOURS = 24 * 366;

export function lineageOf(root: NodeRef): LineageView {
    return {
        page: "lineage",
        root,
        up: 1,
        down: 1,
        expansions: [],
        open: [],
        selected: "",
        picked: [],
        about: "",
        column: "",
        as: "graph",
        bar: 0,
        at: "",
        from: "",
        pulse: "",
        filter: NO_FILTER,
        fold: false,
        apart: [],
        keep: undefined,
    };
}

export function ledgerOf(target: NodeRef): LedgerView {
    return { page: "ledger", target, hours: 6, until: "", baseline: "yesterday" };
}

/** The address of a view, relative to the base of the page. */
export function addressOf(view: View): string {
    if (view.page === "home" || view.page === "unknown") return "./";
    if (view.page === "work") return workAddress(view);
    if (view.page === "pin") return `view/pin/${encodeURIComponent(view.id)}`;
    return `view/${view.page}?${parameters(view).toString()}`;
}

function parameters(view: Exclude<View, { page: "home" } | { page: "unknown" } | PinView | WorkView>): URLSearchParams {
    switch (view.page) {
        case "search":
            return filled({ q: view.text });
        case "lineage":
            return addNodes(
                addFilter(
                    filled({
                        ...named(view.root),
                        up: view.up === 1 ? "" : String(view.up),
                        down: view.down === 1 ? "" : String(view.down),
                        more: view.expansions.map(({ id, direction }) => `${id}.${direction}`).join(" "),
                        open: view.open.join(" "),
                        selected: view.selected,
                        about: view.about,
                        column: view.column,
                        as: view.as === "graph" ? "" : view.as,
                        bar: view.bar === 0 ? "" : String(view.bar),
                        at: view.at,
                        from: view.from,
                        pulse: view.pulse,
                        fold: view.fold ? "yes" : "",
                        apart: view.apart.join(" "),
                        keep: view.keep ? `${view.keep.id}.${view.keep.direction}` : "",
                    }),
                    view.filter,
                ),
                "picked",
                view.picked,
            );
        case "estate":
            return filled(estateParameters(view));
        case "ledger":
            return filled({
                ...named(view.target),
                hours: view.hours === 6 ? "" : String(view.hours),
                until: view.until,
                baseline: view.baseline === "yesterday" ? "" : view.baseline,
            });
        case "trace":
            return filled({ ...named(view.dataset), ...traceParameters(view) });
        case "impact":
            return view.within === ""
                ? addOthers(filled({ ...named(view.root), ...impactParameters(view) }), view)
                : filled({ namespace: view.within, ...impactParameters(view) });
        case "paths":
            return filled({ ...named(view.source), ...named(view.target, "to_") });
    }
}

function named({ kind, namespace, name }: NodeRef, prefix = ""): Record<string, string> {
    return { [`${prefix}kind`]: kind, [`${prefix}namespace`]: namespace, [`${prefix}name`]: name };
}

/** The view of an address: its path below the base of the page, without a slash at its beginning, and its query. */
export function viewOf(path: string, query: string): View {
    const given = new URLSearchParams(query);
    if (path === "") return { page: "home" };
    const [, pin] = /^view\/pin\/([A-Za-z0-9]+)$/.exec(path) ?? [];
    if (pin !== undefined) return { page: "pin", id: pin };
    switch (path) {
        case "view/search":
            return { page: "search", text: given.get("q") ?? "" };
        case "view/lineage":
            return withNode(given, (root) => ({
                ...lineageOf(root),
                up: hops(given.get("up")),
                down: hops(given.get("down")),
                expansions: words(given.get("more")).flatMap(expansion),
                open: words(given.get("open")),
                selected: given.get("selected") ?? "",
                picked: nodesOf(given, "picked"),
                about: aboutOf(given.get("about")),
                column: given.get("column") ?? "",
                as: given.get("as") === "list" ? "list" : "graph",
                bar: within(given.get("bar"), 1, MOST_BAR_HOURS, 0),
                ...times(time(given.get("from")), time(given.get("at"))),
                pulse: given.get("pulse") === "live" ? "live" : time(given.get("pulse")),
                filter: filterOf(given),
                fold: given.get("fold") === "yes",
                apart: words(given.get("apart")),
                keep: expansion(given.get("keep") ?? "")[0],
            }));
        case "view/estate":
            return estateViewOf(given);
        case "view/ledger":
            return withNode(given, (target) => ({
                page: "ledger",
                target,
                hours: within(given.get("hours"), 1, 24 * 31, 6),
                until: given.get("until") ?? "",
                baseline: BASELINES.find((known) => known === given.get("baseline")) ?? "yesterday",
            }));
        case "view/trace":
            return withNode(given, (dataset) => traceViewOf(dataset, given));
        case "view/impact":
            return impactViewOf(nodeOf(given), given) ?? { page: "unknown" };
        case "view/paths":
            return withNode(given, (source) => {
                const target = nodeOf(given, "to_");
                return target ? { page: "paths", source, target } : { page: "unknown" };
            });
        default:
            return workViewOf(path, given) ?? { page: "unknown" };
    }
}

function withNode(given: URLSearchParams, make: (node: NodeRef) => View): View {
    const node = nodeOf(given);
    return node ? make(node) : { page: "unknown" };
}

function nodeOf(given: URLSearchParams, prefix = ""): NodeRef | undefined {
    const [namespace, name] = [given.get(`${prefix}namespace`), given.get(`${prefix}name`)];
    if (namespace === null || name === null) return undefined;
    return { kind: given.get(`${prefix}kind`) === "job" ? "job" : "dataset", namespace, name };
}

function expansion(word: string): Expansion[] {
    const [id, way] = word.split(".");
    return id !== undefined && (way === "upstream" || way === "downstream") ? [{ id, direction: way }] : [];
}

function hops(text: string | null): number {
    return within(text, 0, MOST_HOPS, 1);
}
