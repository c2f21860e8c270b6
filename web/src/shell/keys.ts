/** Whether a key belongs to a field, and is no command. */
export function isTyping(event: KeyboardEvent): boolean {
    const target = event.target;
    if (event.ctrlKey || event.metaKey || event.altKey) return true;
    if (document.querySelector("dialog[open]")) return true;
    return (
        target instanceof HTMLElement &&
        target.matches("input:not([type=checkbox]), textarea, select, [contenteditable]")
    );
}
