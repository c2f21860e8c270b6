/** The settings of a kind as fields of a form, and back. Pure. */

import type { Schemas } from "../../api/client";
import { linesOf } from "../../parts/fields";

export type Setting = Schemas["SettingItem"];
/** How a setting is given: as yes or no, as entries on lines, as text, as text of several lines, or as a value of JSON or else a text. */
export type Shape = "flag" | "lines" | "text" | "block" | "value";

const REFERENCE = /^\$\{(env|file|keyring|sealed):[^}]+\}$/;
const REFERENCES = "${env:NAME}, ${file:PATH}, ${keyring:SERVICE/USER} or ${sealed:NAME}";

export function shapeOf({ name, default: usual, secret, many }: Setting): Shape {
    if (typeof usual === "boolean") return "flag";
    if (many) return "lines";
    if (name.endsWith("_pem") && !secret) return "block"; // a field of one line would join the lines of a certificate
    return typeof usual === "string" || secret ? "text" : "value";
}

/** What a setting is without being set, as a text; empty if that is nothing. */
export function usualOf({ default: usual }: Setting): string {
    if (usual === null || usual === undefined || usual === "") return "";
    return typeof usual === "string" ? usual : JSON.stringify(usual);
}

/** The settings that were given, and, by name, what is wrong with those that the server need not be asked about. */
export function read(
    settings: readonly Setting[],
    textOf: (name: string) => string,
): { values: Record<string, unknown>; errors: Record<string, string> } {
    const [values, errors]: [Record<string, unknown>, Record<string, string>] = [{}, {}];
    for (const setting of settings) {
        const { name, required: isRequired, secret: isSecret } = setting;
        const text = textOf(name);
        if (text === "") {
            if (isRequired) errors[name] = "It is missing.";
        } else if (isSecret && !REFERENCE.test(text)) {
            errors[name] = `A secret is given as a reference, never as itself: ${REFERENCES}.`;
        } else {
            values[name] = valueOf(shapeOf(setting), text);
        }
    }
    return { values, errors };
}

function valueOf(shape: Shape, text: string): unknown {
    if (shape === "flag") return text === "yes";
    if (shape === "lines") return linesOf(text).map((line) => (/^[{[]/.test(line) ? plainOrJson(line) : line));
    return shape === "value" ? plainOrJson(text) : text;
}

function plainOrJson(text: string): unknown {
    try {
        return JSON.parse(text);
    } catch {
        return text;
    }
}

/**
 * By the names of the form's fields, what the server says is wrong with them: a setting's own members are wrong with it. What is wrong
 * with no field of the form is left out.
 */
export function refused(
    fields: Readonly<Record<string, string>>,
    settings: readonly Setting[],
): Record<string, string> {
    const known = new Set(["name", ...settings.map(({ name }) => `setting.${name}`)]);
    const found = Object.entries(fields).map(([path, why]) => [
        path.replace(/^settings\.([^.]+).*$/s, "setting.$1"),
        why,
    ]);
    return Object.fromEntries(found.filter(([name = ""]) => known.has(name))) as Record<string, string>;
}
