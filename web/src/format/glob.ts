/** A glob that fits this text alone. */
export function literal(text: string): string {
    return text.replace(/[*?[]/g, "[$&]");
}
