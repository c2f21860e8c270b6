import type { Picture } from "../picture/picture";

/** What the lines of this picture mean; only those that are in it. */
export function Legend({ picture, isCyclic }: { picture: Picture; isCyclic: boolean }) {
    const origins = new Set(picture.links.map(({ origin }) => origin));
    const entries: [string, string][] = [
        ...(origins.has("observed") ? ([["observed", "seen in runs"]] as [string, string][]) : []),
        ...(origins.has("declared") ? ([["declared", "declared, not seen in a run"]] as [string, string][]) : []),
        ...(origins.has("inferred") ? ([["inferred", "inferred"]] as [string, string][]) : []),
        ...(picture.links.some(({ onlyFailed }) => onlyFailed)
            ? ([["failed", "by failed runs only"]] as [string, string][])
            : []),
        ...(picture.links.some(({ liveness }) => liveness === "silent" || liveness === "gone")
            ? ([["silent", "no sign of life"]] as [string, string][])
            : []),
        ...(isCyclic ? ([["reversed", "loops back"]] as [string, string][]) : []),
    ];
    if (entries.length < 2) return null;
    return (
        <ul className="legend plain" aria-label="What the lines mean">
            {entries.map(([look, meaning]) => (
                <li key={look}>
                    <svg viewBox="0 0 28 8" aria-hidden="true" className={`sample ${look}`}>
                        <path d="M1 4h26" />
                    </svg>
                    {meaning}
                </li>
            ))}
        </ul>
    );
}
