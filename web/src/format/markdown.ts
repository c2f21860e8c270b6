/** Text for Markdown. Pure. */

import { visible } from "./text";

/** A name as it is, whatever characters it has. */
export function literal(text: string): string {
    return `\`${visible(text).replaceAll("`", "'")}\``;
}

/** A text that has no markup, however its names are spelt: no link, picture, emphasis or HTML comes of them. */
export function unmarked(text: string): string {
    return visible(text).replace(/[\\`*[\]<>~|&]/g, "\\$&");
}
