/** What narrows the picture of a lineage, as it is in an address. */

/** What is chosen: of systems, types and tags, which nodes are drawn; of the others, which links. */
export const FILTER_KEYS = ["system", "type", "tag", "origin", "evidence", "state"] as const;
export type FilterKey = (typeof FILTER_KEYS)[number];
/** The words chosen of each; any where none is chosen. */
export type PictureFilter = Readonly<Record<FilterKey, readonly string[]>>;

export const NO_FILTER: PictureFilter = { system: [], type: [], tag: [], origin: [], evidence: [], state: [] };

export function filterOf(given: URLSearchParams): PictureFilter {
    return Object.fromEntries(FILTER_KEYS.map((key) => [key, given.getAll(key)])) as unknown as PictureFilter;
}

export function addFilter(query: URLSearchParams, filter: PictureFilter): URLSearchParams {
    for (const key of FILTER_KEYS) for (const word of filter[key]) query.append(key, word);
    return query;
}

export function chosenWords(filter: PictureFilter): number {
    return FILTER_KEYS.reduce((sum, key) => sum + filter[key].length, 0);
}
