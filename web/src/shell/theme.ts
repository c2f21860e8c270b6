export const THEMES = ["system", "light", "dark", "contrast"] as const;
export type Theme = (typeof THEMES)[number];
const KEY = "lineage-bridge-theme";

export function storedTheme(): Theme {
    const stored = localStorage.getItem(KEY);
    return THEMES.find((theme) => theme === stored) ?? "system";
}

/** Show the page in a theme: `system` follows the browser's. */
export function applyTheme(theme: Theme): void {
    document.documentElement.dataset.theme = theme;
    localStorage.setItem(KEY, theme);
}

/** Calls `changed` whenever colours change: by the person here, or by the system. Returns what ends that. */
export function onTheme(changed: () => void): () => void {
    const observer = new MutationObserver(changed);
    observer.observe(document.documentElement, { attributes: true, attributeFilter: ["data-theme"] });
    const system = window.matchMedia("(prefers-color-scheme: dark)");
    system.addEventListener("change", changed);
    return () => {
        observer.disconnect();
        system.removeEventListener("change", changed);
    };
}
