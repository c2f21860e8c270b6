/** Columns of the same name where a trace meets flows without column evidence, in words. Pure. */

import type { Schemas } from "../api/client";

const CUT: Record<string, string> = {
    suggestions: "There are more.",
    gaps: "There may be more: not all of these flows are listed.",
    time: "There may be more: looking for them took too long.",
};

/** Why there may be more suggestions, as a sentence; empty if there are no more. */
export function suggestionsCut({ cut }: Schemas["TraceSuggestions"]): string {
    return CUT[cut] ?? (cut === "" ? "" : `There may be more (${cut}).`);
}
