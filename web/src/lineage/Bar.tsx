import type { ReactNode } from "react";

import { chosenWords } from "../address/filter";
import { ESTATE } from "../address/estate";
import { show, ViewLink } from "../address/history";
import { boundedHops, MOST_HOPS } from "../address/nodes";
import { impactOf } from "../address/impact";
import { ledgerOf, type Direction, type LineageView } from "../address/view";
import { Icon } from "../parts/Icon";
import { FullName } from "../parts/Name";
import type { Changes } from "./changes";

interface Props {
    view: LineageView;
    change: Changes;
    isFiltering: boolean;
    toggleFilter: () => void;
    openExport: () => void;
    /** What else can be done with what is drawn. */
    children?: ReactNode;
}

/** The head of the lineage: what it is of, how far it goes, and what else can be seen of it. */
export function Bar({ view, change, isFiltering, toggleFilter, openExport, children }: Props) {
    const [first, ...others] = view.picked;
    const chosen = chosenWords(view.filter) + (view.fold ? 1 : 0);
    return (
        <div className="bar">
            <h1>
                <FullName {...view.root} />
            </h1>
            <div className="tools" role="toolbar" aria-label="View">
                <ViewLink className="button" to={ESTATE} title="Systems, and what flows between them (W)">
                    <Icon name="estate" />
                    Estate
                </ViewLink>
                <Hops view={view} direction="upstream" />
                <Hops view={view} direction="downstream" />
                <button type="button" aria-pressed={view.as === "list"} onClick={change.toggleList} title="List (T)">
                    <Icon name={view.as === "list" ? "graph" : "list"} />
                    {view.as === "list" ? "Graph" : "List"}
                </button>
                <button type="button" aria-expanded={isFiltering} onClick={toggleFilter} title="Filter and fold (F)">
                    <Icon name="filter" />
                    Filter
                    {chosen > 0 && <span className="count">{chosen}</span>}
                </button>
                <button
                    type="button"
                    aria-pressed={view.pulse !== ""}
                    onClick={change.togglePulse}
                    title="What flows, and what shows no life? (P)"
                >
                    <Icon name="stream" />
                    Pulse
                </button>
                <button
                    type="button"
                    aria-pressed={view.bar > 0}
                    onClick={change.toggleBar}
                    title="What changed since it was right? (H)"
                >
                    <Icon name="clock" />
                    Time
                </button>
                <ViewLink className="button" to={ledgerOf(view.root)} title="Where did the number go wrong? (L)">
                    <Icon name="ledger" />
                    Ledger
                </ViewLink>
                <ViewLink
                    className="button"
                    to={first ? impactOf(first, ...others) : impactOf(view.root)}
                    title="What does a change affect? (B)"
                >
                    <Icon name="blast" />
                    Impact
                </ViewLink>
                <button type="button" onClick={openExport} title="Export what is drawn (E)">
                    <Icon name="download" />
                    Export
                </button>
                {children}
            </div>
        </div>
    );
}

function Hops({ view, direction }: { view: LineageView; direction: Direction }) {
    const side = direction === "upstream" ? "up" : "down";
    const set = (hops: number) => show({ ...view, [side]: boundedHops(hops) });
    return (
        <span className="stepper" role="group" aria-label={`Hops ${direction}`}>
            <Icon name={direction} />
            <button
                type="button"
                onClick={() => set(view[side] - 1)}
                disabled={view[side] === 0}
                aria-label={`One hop less ${direction}`}
            >
                −
            </button>
            <output aria-label={`${view[side]} hops ${direction}`}>{view[side]}</output>
            <button
                type="button"
                onClick={() => set(view[side] + 1)}
                disabled={view[side] === MOST_HOPS}
                aria-label={`One hop more ${direction}`}
            >
                +
            </button>
        </span>
    );
}
