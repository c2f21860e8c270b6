import { useId, type SyntheticEvent } from "react";

import { show } from "../address/history";
import type { WorkView } from "../address/work";

/** One thing that narrows a list: a text, or one of several words. */
export interface Field {
    key: string;
    label: string;
    /** The words to choose from; a text without them. */
    words?: readonly string[];
    hint?: string;
}

/** What narrows a list; it is in the address. A list begins anew when it changes. */
export function Filters({ view, fields }: { view: WorkView; fields: readonly Field[] }) {
    const id = useId();
    const narrow = (event: SyntheticEvent<HTMLFormElement>) => {
        event.preventDefault();
        const given = new FormData(event.currentTarget);
        const kept = Object.entries(view.filters).filter(([key]) => !fields.some((field) => field.key === key));
        const narrowed = fields.flatMap(({ key }): [string, string][] => {
            const value = given.get(key);
            return typeof value === "string" && value.trim() !== "" ? [[key, value.trim()]] : [];
        });
        show({ ...view, filters: Object.fromEntries([...kept, ...narrowed]), offset: 0, open: "" });
    };
    return (
        <form className="filters" role="search" aria-label="Narrow the list" onSubmit={narrow}>
            {fields.map(({ key, label, words, hint }) => (
                <label key={key} htmlFor={`${id}-${key}`}>
                    {label}
                    {words ? (
                        <select
                            id={`${id}-${key}`}
                            name={key}
                            defaultValue={view.filters[key] ?? ""}
                            onChange={(event) => event.currentTarget.form?.requestSubmit()}
                        >
                            <option value="">any</option>
                            {words.map((word) => (
                                <option key={word}>{word}</option>
                            ))}
                        </select>
                    ) : (
                        <input
                            id={`${id}-${key}`}
                            name={key}
                            type="text"
                            autoComplete="off"
                            spellCheck={false}
                            placeholder={hint}
                            defaultValue={view.filters[key] ?? ""}
                        />
                    )}
                </label>
            ))}
            {fields.some(({ words }) => !words) && <button type="submit">Narrow</button>}
        </form>
    );
}
