/** The address of the estate. */

/** Systems, or their environments, and the flows between them. */
export interface EstateView {
    page: "estate";
    scale: "environment" | "system";
    as: "graph" | "list";
    /** The id of a node; empty for none. */
    selected: string;
}

export const ESTATE: EstateView = { page: "estate", scale: "environment", as: "graph", selected: "" };

/** The parameters of its address; those that are as usual are empty. */
export function estateParameters({ scale, as, selected }: EstateView): Record<string, string> {
    return { scale: scale === ESTATE.scale ? "" : scale, as: as === ESTATE.as ? "" : as, selected };
}

export function estateViewOf(given: URLSearchParams): EstateView {
    return {
        page: "estate",
        scale: given.get("scale") === "system" ? "system" : "environment",
        as: given.get("as") === "list" ? "list" : "graph",
        selected: given.get("selected") ?? "",
    };
}
