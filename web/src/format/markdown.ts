/** Text for Markdown. Pure. */

import { visible } from "./text";

/** A name as it is, whatever characters it has. */
export function literal(text: string): string {
    return `\`${visible(text).replaceAll("`", "'")}\``;
}
