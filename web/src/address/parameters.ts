/** Parameters of an address as values; what is none of those that are expected is the usual one. Pure. */

export function words(text: string | null): string[] {
    return (text ?? "").split(" ").filter((word) => word !== "");
}

export function time(text: string | null): string {
    return text !== null && /^\d{4}-\d\d-\d\dT/.test(text) && !Number.isNaN(Date.parse(text)) ? text : "";
}

/** The earlier time is the one that is compared with, whichever way round they stand. */
export function times(from: string, at: string): { from: string; at: string } {
    const isReversed = from !== "" && at !== "" && Date.parse(from) > Date.parse(at);
    return isReversed ? { from: at, at: from } : { from, at };
}

export function within(text: string | null, least: number, most: number, otherwise: number): number {
    const number = text === null ? NaN : Number(text);
    return Number.isInteger(number) && number >= least && number <= most ? number : otherwise;
}

/** The parameters that say something; a name may be empty, so it always stays. */
export function filled(values: Record<string, string>): URLSearchParams {
    const kept = Object.entries(values).filter(([key, value]) => value !== "" || /name(space)?$/.test(key));
    return new URLSearchParams(kept);
}
