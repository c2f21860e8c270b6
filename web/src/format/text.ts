/** Numbers, times and names as people read them. */

/** The browser's formats are slow to load, so that no view waits for one that it does not need. */
let compactFormat: Intl.NumberFormat | undefined;

/** A number without fraction, its digits in groups of three. */
export function whole(count: number): string {
    return count.toFixed(0).replace(/\B(?=(?:\d{3})+$)/g, ",");
}

export function compact(count: number): string {
    compactFormat ??= new Intl.NumberFormat("en", { notation: "compact", maximumFractionDigits: 1 });
    return compactFormat.format(count);
}

export function ratio(value: number): string {
    return value >= 100 ? whole(Math.round(value)) : value.toFixed(2);
}

export function counted(count: number, noun: string, plural = `${noun}s`): string {
    return `${whole(count)} ${count === 1 ? noun : plural}`;
}

/** A text as a sentence: with a capital, and a full stop. */
export function sentence(text: string): string {
    return text === "" ? text : text.charAt(0).toUpperCase() + text.slice(1) + (/[.?!]$/.test(text) ? "" : ".");
}

const UNITS: readonly [string, number][] = [
    ["d", 86_400],
    ["h", 3_600],
    ["min", 60],
    ["s", 1],
];

/** How long something takes, in seconds or larger units: the two largest at most. */
export function duration(time: number): string {
    const seconds = Math.floor(time);
    if (seconds < 1) return "under 1 s";
    const at = UNITS.findIndex(([, length]) => seconds >= length);
    const [unit, length] = UNITS[at] ?? ["s", 1];
    const [small, smallLength] = UNITS[at + 1] ?? ["", 0];
    const rest = smallLength > 0 ? Math.floor((seconds % length) / smallLength) : 0;
    return `${Math.floor(seconds / length)} ${unit}${rest > 0 && at < 2 ? ` ${rest} ${small}` : ""}`;
}

/** How long it is from one time to another; nothing if one cannot be read. */
export function between(since: string, until: string): string {
    const seconds = (Date.parse(until) - Date.parse(since)) / 1000;
    return Number.isNaN(seconds) ? "" : duration(Math.max(0, seconds));
}

/** How long ago a time was, or "now". */
export function ago(time: string, now: number): string {
    const seconds = Math.floor((now - Date.parse(time)) / 1000);
    if (Number.isNaN(seconds)) return time;
    return seconds < 1 ? "now" : `${duration(seconds)} ago`;
}

/** A time as year, month, day, hour, minute and second, UTC. */
export function moment(time: string): string {
    const date = new Date(time);
    return Number.isNaN(date.getTime()) ? time : `${date.toISOString().slice(0, 19).replace("T", " ")} UTC`;
}

/** Where a name may be broken into lines: behind the characters that divide it. */
export function breakable(name: string): string[] {
    return name.match(/[^./:_\-@]*[./:_\-@]+|[^./:_\-@]+/gu) ?? [name];
}

const HIDDEN = /[\u0000-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/gu;

/** A text whose invisible characters, and those that turn the direction of writing, are written as their codes. */
export function visible(text: string): string {
    return text.replace(
        HIDDEN,
        (character) => `⟨U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}⟩`,
    );
}

/** A text of at most `most` characters: its beginning and, longer, its end, which tells names apart. */
export function elided(text: string, most: number): string {
    const characters = Array.from(text);
    if (characters.length <= most) return text;
    const end = Math.ceil((most - 1) * 0.6);
    return `${characters.slice(0, most - 1 - end).join("")}…${characters.slice(-end).join("")}`;
}

/** A value as a field of a CSV file; one that a spreadsheet would take for a formula is marked as text. */
export function csvField(value: string | number | undefined): string {
    const text = value === undefined ? "" : String(value);
    const safe = typeof value === "string" && /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
    return /[",\n\r]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

export function csv(rows: readonly (readonly (string | number | undefined)[])[]): string {
    return rows.map((row) => row.map(csvField).join(",") + "\r\n").join("");
}
