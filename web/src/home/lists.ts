/** The lists behind what the start page counts. Pure. */

import { workOf, type WorkView } from "../address/work";

/** A glob that fits this text alone. */
export function literal(text: string): string {
    return text.replace(/[*?[]/g, "[$&]");
}

/** The datasets of a system, whose namespaces begin with its name or are one; undefined if no glob fits them all, and nothing else. */
export function listOfSystem(system: string, largest: readonly { namespace: string }[]): WorkView | undefined {
    const [first, ...others] = largest.map(({ namespace }) => namespace);
    if (first === undefined) return undefined;
    if (others.length === 0) return workOf("datasets", { namespace: literal(first) });
    const scheme = `${system}://`;
    const isSchemeOfAll = [first, ...others].every((namespace) => namespace.startsWith(scheme));
    return isSchemeOfAll ? workOf("datasets", { namespace: `${literal(scheme)}*` }) : undefined;
}
