/** What is shown of the selected node, beside the picture. */
const ABOUT = ["schema", "runs", "sql", "statistics", "events", "access", "facets", "aliases"] as const;
export type About = (typeof ABOUT)[number];

/** What an address names; empty if it names none that there is. */
export function aboutOf(text: string | null): About | "" {
    return ABOUT.find((known) => known === text) ?? "";
}
