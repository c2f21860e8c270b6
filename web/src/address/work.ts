/** Addresses of the lists: datasets, jobs, runs and all that a server is made of. */

/** Each list, and what it can be narrowed by: the names of its filters in addresses, which are those of the API. */
export const WORK_FILTERS = {
    datasets: ["namespace", "name"],
    jobs: ["namespace", "name", "type", "state"],
    aliases: ["entity", "kind", "namespace", "name"],
    drift: ["namespace", "name"],
    runs: ["namespace", "name", "state"],
    events: ["namespace", "job", "since", "until", "run"],
    quarantine: ["code"],
    tasks: ["status"],
    inputs: [],
    sources: [],
    targets: [],
    keys: [],
    sessions: ["principal"],
} as const satisfies Record<string, readonly string[]>;

export type WorkList = keyof typeof WORK_FILTERS;
export type WorkFilters = Readonly<Record<string, string>>;

export interface WorkView {
    page: "work";
    list: WorkList;
    /** What narrows the list. One that is missing narrows nothing; an empty one asks for the empty name. */
    filters: WorkFilters;
    /** How many entries come before the page that is shown. */
    offset: number;
    /** The id of the entry that is shown whole; empty for none. */
    open: string;
}

export function workOf(list: WorkList, filters: WorkFilters = {}, open = ""): WorkView {
    return { page: "work", list, filters, offset: 0, open };
}

export function workAddress({ list, filters, offset, open }: WorkView): string {
    const query = new URLSearchParams(Object.entries(filters));
    if (offset > 0) query.set("offset", String(offset));
    if (open !== "") query.set("open", open);
    return `view/${list}${query.size > 0 ? `?${query.toString()}` : ""}`;
}

/** The list of a path below the base of the page; undefined if it leads to none. */
export function workViewOf(path: string, given: URLSearchParams): WorkView | undefined {
    const list = path.replace(/^view\//, "");
    if (!path.startsWith("view/") || !isWorkList(list)) return undefined;
    const filters = WORK_FILTERS[list].flatMap((key): [string, string][] => {
        const value = given.get(key);
        return value === null ? [] : [[key, value]];
    });
    const offset = Number(given.get("offset") ?? 0);
    return {
        page: "work",
        list,
        filters: Object.fromEntries(filters),
        offset: Number.isSafeInteger(offset) && offset > 0 ? offset : 0,
        open: given.get("open") ?? "",
    };
}

function isWorkList(text: string): text is WorkList {
    return Object.hasOwn(WORK_FILTERS, text);
}
