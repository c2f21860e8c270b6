/** What the lists show of facets. Anybody may state facets, in any shape: what is not as the specification has it is passed over. */

type Facets = Readonly<Record<string, unknown>>;

/** Names of the owners, each once. */
export function ownersOf(facets: Facets): string[] {
    return [...new Set(entriesOf(facets.ownership, "owners").flatMap(({ name }) => textOf(name)))];
}

/** The tags of the whole, as `key` or `key=value`; those of single columns are left out. */
export function tagsOf(facets: Facets): string[] {
    return entriesOf(facets.tags, "tags").flatMap(({ key, value, field }) => {
        const [name] = textOf(key);
        if (name === undefined || textOf(field).length > 0) return [];
        const [text] = textOf(value);
        return text === undefined || text === "true" ? [name] : [`${name}=${text}`];
    });
}

export function descriptionOf(facets: Facets): string {
    const { documentation } = facets;
    return isRecord(documentation) ? (textOf(documentation.description)[0] ?? "") : "";
}

/** How many columns the schema has; undefined without one. */
export function columnsOf(facets: Facets): number | undefined {
    return isRecord(facets.schema) ? entriesOf(facets.schema, "fields").length : undefined;
}

/** What kind of job it is, in its producer's words, such as `flink streaming query`. */
export function jobTypeOf(facets: Facets): string {
    const { jobType } = facets;
    if (!isRecord(jobType)) return "";
    const words = [jobType.integration, jobType.processingType, jobType.jobType].flatMap(textOf);
    return words.join(" ").toLowerCase().replaceAll("_", " ");
}

function entriesOf(facet: unknown, key: string): Record<string, unknown>[] {
    const found = isRecord(facet) ? facet[key] : undefined;
    return Array.isArray(found) ? found.filter(isRecord) : [];
}

function textOf(value: unknown): string[] {
    return typeof value === "string" && value !== "" ? [value] : [];
}

function isRecord(value: unknown): value is Record<string, unknown> {
    return typeof value === "object" && value !== null && !Array.isArray(value);
}
