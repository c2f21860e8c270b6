import { useQuery } from "@tanstack/react-query";
import { useDeferredValue, useId, useState, type KeyboardEvent } from "react";

import { show } from "../address/history";
import { refOf } from "../address/nodes";
import type { NodeRef, View } from "../address/view";
import { search } from "../api/questions";
import { Icon } from "../parts/Icon";
import { ShortName } from "../parts/Name";
import { foundIcon, foundView } from "./found";

const SHOWN = 8;

interface Props {
    autoFocus?: boolean;
    /** Where a found node leads; by default its lineage, with the column that was found. */
    to?: (node: NodeRef) => View;
    /** What is shown: with Shift, a found node leads to the paths to it from there. */
    from?: NodeRef | undefined;
    onChosen?: () => void;
    label?: string;
}

/** A search over the whole estate: datasets and jobs by name, column, owner, tag, description and SQL. */
export function SearchField({
    autoFocus = false,
    to,
    from,
    onChosen,
    label = "Search datasets, jobs and columns",
}: Props) {
    const [text, setText] = useState("");
    const [at, setAt] = useState(0);
    const [isOpen, setOpen] = useState(true);
    const list = useId();
    const asked = useDeferredValue(text.trim());
    const { data, error, isFetching } = useQuery(search(asked, SHOWN));
    const results = asked === "" || error ? [] : (data?.results ?? []);
    const isShown = isOpen && asked !== "";
    const choose = (index: number, isPath: boolean) => {
        const found = results[index];
        if (found && isPath && from) show({ page: "paths", source: from, target: refOf(found) });
        else if (found) show(to ? to(refOf(found)) : foundView(found));
        else if (asked !== "") show({ page: "search", text: asked });
        onChosen?.();
    };
    const onKey = (event: KeyboardEvent) => {
        const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
        if (step !== 0 && results.length > 0) {
            event.preventDefault();
            setOpen(true);
            setAt((at + step + results.length) % results.length);
        } else if (event.key === "Enter" && asked !== "") {
            event.preventDefault();
            // What is shown may be of an earlier text: Enter waits for nobody, so it then goes to the results.
            choose(isFetching && data === undefined ? -1 : at, event.shiftKey);
        } else if (event.key === "Escape" && isShown) {
            event.preventDefault();
            setOpen(false);
        }
    };
    return (
        <div className="search" role="search">
            <Icon name="search" />
            <input
                type="text"
                role="combobox"
                aria-label={label}
                aria-expanded={isShown && results.length > 0}
                aria-controls={list}
                aria-autocomplete="list"
                aria-activedescendant={isShown && results[at] ? `${list}-${at}` : undefined}
                autoFocus={autoFocus}
                autoComplete="off"
                spellCheck={false}
                placeholder="Search topics, tables, jobs, columns, owners…"
                value={text}
                onChange={(event) => {
                    setText(event.target.value);
                    setAt(0);
                    setOpen(true);
                }}
                onKeyDown={onKey}
            />
            <kbd aria-hidden="true">/</kbd>
            <ul id={list} role="listbox" aria-label="Found" hidden={!isShown || results.length === 0}>
                {results.map((found, index) => (
                    <li
                        key={found.id}
                        id={`${list}-${index}`}
                        role="option"
                        aria-selected={index === at}
                        onMouseEnter={() => setAt(index)}
                        onMouseDown={(event) => event.preventDefault()}
                        onClick={(event) => choose(index, event.shiftKey)}
                    >
                        <Icon name={foundIcon(found)} />
                        <span>
                            <ShortName text={found.name} most={80} />
                            <small>
                                {found.kind} in <ShortName text={found.namespace} most={60} />
                                {found.matched?.[0] && (
                                    <>
                                        , {found.matched[0].in}: <ShortName text={found.matched[0].text} most={60} />
                                    </>
                                )}
                            </small>
                        </span>
                    </li>
                ))}
            </ul>
            <p className="search-note" role="status">
                {isShown && error
                    ? error.message
                    : isShown && data && results.length === 0 && !isFetching
                      ? `Nothing matches “${asked}”.`
                      : ""}
            </p>
        </div>
    );
}
