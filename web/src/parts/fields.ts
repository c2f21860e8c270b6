/** What stands in the fields of a form. Pure. */

import type { Problem } from "../api/client";

/** The text of a field, without blanks around it. */
export function textOf(given: FormData, name: string): string {
    const found = given.get(name);
    return typeof found === "string" ? found.trim() : "";
}

/** What stands on the lines of a field, without empty ones. */
export function linesOf(text: string): string[] {
    return text
        .split("\n")
        .map((line) => line.trim())
        .filter((line) => line !== "");
}

/** What the server says about the field with the name of what is added; undefined if it is about something else. */
export function refusedName({ message, hint }: Pick<Problem, "message" | "hint">): { name: string } | undefined {
    const isAboutName = /is not a valid (\w+ )?name\b|already exists$/.test(message);
    return isAboutName ? { name: `${message}: ${hint}.` } : undefined;
}
