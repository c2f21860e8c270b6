/** What stands in the fields of a form. Pure. */

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
