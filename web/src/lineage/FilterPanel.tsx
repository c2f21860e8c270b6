import { FILTER_KEYS, NO_FILTER, type FilterKey, type PictureFilter } from "../address/filter";
import { counted, whole } from "../format/text";
import { ShortName } from "../parts/Name";
import { wordsOf } from "./picture/narrow";
import type { Picture } from "./picture/picture";

const TITLES: Record<FilterKey, string> = {
    system: "System",
    type: "Type",
    tag: "Tag",
    origin: "Origin of links",
    evidence: "Evidence of links",
    state: "State of jobs",
};

interface Props {
    /** The whole picture: what can be chosen is in it. */
    picture: Picture;
    filter: PictureFilter;
    fold: boolean;
    hiddenNodes: number;
    change: (filter: PictureFilter) => void;
    toggleFold: () => void;
    /** How many bundles of consumer groups are shown one by one. */
    apart: number;
    bundleAgain: () => void;
}

/** What narrows the picture: nodes by system, type and tag, links by origin, evidence and state; and the fold of what is trivial. */
export function FilterPanel({ picture, filter, fold, hiddenNodes, change, toggleFold, apart, bundleAgain }: Props) {
    const words = wordsOf(picture);
    const toggle = (key: FilterKey, word: string) => {
        const chosen = filter[key];
        const next = chosen.includes(word) ? chosen.filter((other) => other !== word) : [...chosen, word];
        change({ ...filter, [key]: next });
    };
    return (
        <section className="filter-panel" aria-label="Filter">
            {FILTER_KEYS.map((key) => {
                const here = words[key];
                const gone = filter[key].filter((word) => !here.some(([known]) => known === word));
                const all: [string, number][] = [...here, ...gone.map((word): [string, number] => [word, 0])];
                if (all.length === 0) return null;
                return (
                    <fieldset key={key}>
                        <legend>{TITLES[key]}</legend>
                        {all.map(([word, count]) => (
                            <label key={word}>
                                <input
                                    type="checkbox"
                                    checked={filter[key].includes(word)}
                                    onChange={() => toggle(key, word)}
                                />
                                <ShortName text={key === "type" ? word.replaceAll("_", " ") : word} most={40} />{" "}
                                <span className="count">{whole(count)}</span>
                            </label>
                        ))}
                    </fieldset>
                );
            })}
            <fieldset>
                <legend>Fold</legend>
                <label>
                    <input type="checkbox" checked={fold} onChange={toggleFold} />
                    jobs with one input and one output, internal topics, consumer groups that read the same
                </label>
                {hiddenNodes > 0 && <p className="hint">{counted(hiddenNodes, "node")} not drawn</p>}
                {apart > 0 && (
                    <button type="button" onClick={bundleAgain}>
                        Count consumer groups again
                    </button>
                )}
                <button type="button" onClick={() => change(NO_FILTER)} disabled={filter === NO_FILTER}>
                    Choose everything
                </button>
            </fieldset>
        </section>
    );
}
