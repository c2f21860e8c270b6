import { useSyncExternalStore, type AnchorHTMLAttributes, type MouseEvent } from "react";

import { addressOf, viewOf, type View } from "./view";

const listeners = new Set<() => void>();
let shown: { href: string; view: View } | undefined;

function current(): View {
    const { href, pathname, search } = window.location;
    if (shown?.href !== href) {
        const base = new URL(document.baseURI).pathname;
        shown = { href, view: viewOf(pathname.startsWith(base) ? pathname.slice(base.length) : pathname, search) };
    }
    return shown.view;
}

function subscribe(listener: () => void): () => void {
    listeners.add(listener);
    window.addEventListener("popstate", listener);
    return () => {
        listeners.delete(listener);
        window.removeEventListener("popstate", listener);
    };
}

/** The view of the browser's address. */
export function useView(): View {
    return useSyncExternalStore(subscribe, current);
}

/** Show a view; the browser's Back returns to the one before, unless this one takes its place. */
export function show(view: View, { replace = false }: { replace?: boolean } = {}): void {
    const address = new URL(addressOf(view), document.baseURI).href;
    if (address === window.location.href) return;
    const state = { before: viewsBefore() + (replace ? 0 : 1) };
    window.history[replace ? "replaceState" : "pushState"](state, "", address);
    if (!replace) window.scrollTo(0, 0);
    listeners.forEach((listener) => listener());
}

/** How many views of this page came before this one. */
function viewsBefore(): number {
    const state: unknown = window.history.state;
    return typeof state === "object" && state !== null && "before" in state && typeof state.before === "number"
        ? state.before
        : 0;
}

/** Show the view before this one; nothing happens if this was the first. */
export function back(): void {
    if (viewsBefore() > 0) window.history.back();
}

/** A link to a view, which opens in this page without loading it again. */
export function ViewLink({ to, ...rest }: { to: View } & AnchorHTMLAttributes<HTMLAnchorElement>) {
    const open = (event: MouseEvent<HTMLAnchorElement>) => {
        rest.onClick?.(event);
        if (
            event.defaultPrevented ||
            event.button !== 0 ||
            event.metaKey ||
            event.ctrlKey ||
            event.shiftKey ||
            event.altKey
        )
            return;
        event.preventDefault();
        show(to);
    };
    return <a {...rest} href={addressOf(to)} onClick={open} />;
}
