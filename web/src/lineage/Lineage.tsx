import { useQueries } from "@tanstack/react-query";
import { useCallback, useEffect, useMemo, useRef, useState } from "react";

import { chosenWords, NO_FILTER } from "../address/filter";
import type { LineageView } from "../address/view";
import { schemas } from "../api/questions";
import { counted } from "../format/text";
import { Icon } from "../parts/Icon";
import { Empty, Failure, Loading } from "../parts/Messages";
import { Name } from "../parts/Name";
import { CopyNote } from "../note/CopyNote";
import { Bar } from "./Bar";
import { BundlePanel } from "./BundlePanel";
import { Canvas } from "./canvas/Canvas";
import { changes } from "./changes";
import { ExportDialog } from "./export/ExportDialog";
import { FilterPanel } from "./FilterPanel";
import { LineageList } from "./LineageList";
import { lineageNote } from "./lineageNote";
import { Picked } from "./Picked";
import { keepOnly } from "./picture/keep";
import { narrow } from "./picture/narrow";
import { compare, relatedColumns, type ColumnRef, type Picture } from "./picture/picture";
import type { Comparison } from "./time/comparison";
import { SidePanel } from "./SidePanel";
import { PulseBar } from "./pulse/PulseBar";
import { PulseFeed } from "./pulse/PulseFeed";
import { Pulses, PulseStore } from "./pulse/store";
import { TimeBar } from "./time/TimeBar";
import { useTime } from "./time/useTime";
import { useLineageKeys } from "./useLineageKeys";

const NONE: ReadonlySet<string> = new Set();
const NO_LINKS: Picture["links"] = [];

/** The lineage around a dataset or a job, as a graph or as a list, with what is known of the selected node beside it. */
export default function Lineage({ view }: { view: LineageView }) {
    const time = useTime(view);
    const { state, present, comparison } = time;
    const [pulses] = useState(() => new PulseStore());
    const { rootId, error } = state;
    const { filter, fold, keep } = view;
    // Between two times, each consumer group may differ.
    const apart = view.at === "" && view.from === "" ? view.apart : undefined;
    const picture = useMemo(
        () => state.picture && narrow(keepOnly(state.picture, keep), { filter, fold, rootId, apart }),
        [state.picture, keep, filter, fold, rootId, apart],
    );
    const isSeen = useMemo(() => {
        const isAll = present === state.picture && picture !== undefined;
        return seen(
            isAll ? picture : present && narrow(keepOnly(present, keep), { filter, fold, rootId, apart }),
            comparison,
        );
    }, [present, state.picture, picture, comparison, keep, filter, fold, rootId, apart]);
    const [isFiltering, setFiltering] = useState(chosenWords(filter) > 0);
    const toggleFilter = useCallback(() => setFiltering((isOpen) => !isOpen), []);
    const [isExporting, setExporting] = useState(false);
    const openExport = useCallback(() => setExporting(true), []);
    const columns = useColumns(view, picture);
    const chosen = columnOf(view.column);
    const related = useMemo(
        () => (picture && view.column !== "" ? relatedColumns(picture.columns, columnOf(view.column)) : NONE),
        [picture, view.column],
    );
    const change = useMemo(() => changes(view), [view]);
    const awaited = useRef("");
    const takeApart = useCallback(
        (id: string) => {
            awaited.current = picture?.nodes.find((node) => node.id === id)?.members?.[0]?.id ?? "";
            change.takeApart(id, awaited.current);
        },
        [change, picture],
    );
    const content = useCallback(
        () => lineageNote(view, picture ? drawn(picture, isSeen) : undefined, rootId),
        [view, picture, isSeen, rootId],
    );
    const chooseColumn = useCallback((column: ColumnRef) => change.chooseColumn(column, picture), [change, picture]);
    const actions = useMemo(
        () => ({ expand: change.expand, fold: change.fold, pick: change.pick, takeApart, chooseColumn, awaited }),
        [change, chooseColumn, takeApart],
    );
    const selectedId = view.selected === "" ? rootId : view.selected;
    const selected = picture?.nodes.find(({ id }) => id === selectedId);
    useLineageKeys({ view, change, takeApart, selected: selected ?? undefined, picture, toggleFilter, openExport });
    useEffect(() => {
        if (picture && view.selected !== "" && !picture.nodes.some(({ id }) => id === view.selected)) {
            const bundle = picture.nodes.find(({ members }) => members?.some(({ id }) => id === view.selected));
            if (bundle && document.activeElement?.closest(".react-flow__node")) awaited.current = bundle.id;
            if (bundle || !state.isFetching) change.select(bundle?.id ?? "");
        }
    }, [picture, view.selected, state.isFetching, change]);

    return (
        <Pulses.Provider value={pulses}>
            <div className="lineage">
                <Bar
                    view={view}
                    change={change}
                    isFiltering={isFiltering}
                    toggleFilter={toggleFilter}
                    openExport={openExport}
                >
                    {picture && <CopyNote content={content} />}
                </Bar>
                {isExporting && picture && (
                    <ExportDialog
                        view={view}
                        picture={drawn(picture, isSeen)}
                        rootId={rootId}
                        changes={comparison?.changes}
                        close={() => setExporting(false)}
                    />
                )}
                {isFiltering && state.picture && (
                    <FilterPanel
                        picture={state.picture}
                        filter={view.filter}
                        fold={view.fold}
                        hiddenNodes={picture?.hiddenNodes ?? 0}
                        change={change.filter}
                        toggleFold={change.toggleFold}
                        apart={view.apart.length}
                        bundleAgain={change.bundleAgain}
                    />
                )}
                {picture?.truncated && (
                    <p className="notice warn" role="status">
                        <Icon name="warning" />
                        This is not everything: the limit of {picture.truncated} ended the search. Show fewer hops, or
                        expand single nodes.
                    </p>
                )}
                {error && picture && (
                    <p className="notice warn" role="status">
                        <Icon name="warning" />
                        As of {new Date(state.updatedAt).toISOString().slice(11, 19)} UTC: {error.message}.
                    </p>
                )}
                {keep && (
                    <p className="chip">
                        Only what is {keep.direction} of{" "}
                        <Name text={picture?.nodes.find(({ id }) => id === keep.id)?.name ?? "what is not here"} />
                        <button
                            type="button"
                            className="bare"
                            aria-label="Show both sides again"
                            onClick={() => change.keep(keep.id, keep.direction)}
                        >
                            <Icon name="cross" />
                        </button>
                    </p>
                )}
                {view.column !== "" && (
                    <p className="chip">
                        Column <b>{chosen.field}</b> and what it comes from and goes into
                        <button
                            type="button"
                            className="bare"
                            aria-label="Choose no column"
                            onClick={change.leaveColumn}
                        >
                            <Icon name="cross" />
                        </button>
                    </p>
                )}
                <Picked view={view} pickNone={change.pickNone} />
                {view.pulse !== "" && (
                    <PulseFeed
                        key={JSON.stringify([view.root, view.pulse])}
                        {...{ view, state }}
                        drawn={picture?.links ?? NO_LINKS}
                    />
                )}
                {view.pulse !== "" && picture && <PulseBar {...{ view, picture }} select={change.select} />}
                <div className="stage">
                    {picture === undefined ? (
                        error ? (
                            <Failure problem={error} kind={view.root.kind} retry={state.retry} />
                        ) : (
                            <Loading />
                        )
                    ) : picture.links.length === 0 && view.as === "graph" ? (
                        picture.hiddenNodes > 0 ? (
                            <Empty title="Nothing else fits the filter">
                                <button type="button" onClick={() => change.filter(NO_FILTER)}>
                                    Choose everything
                                </button>
                            </Empty>
                        ) : keep ? (
                            <Empty title={`Nothing is ${keep.direction} of it`} />
                        ) : (
                            <Empty title="Nothing is known to read or write it">
                                <p>No run has named it as an input or output, and nobody has declared a flow.</p>
                            </Empty>
                        )
                    ) : view.as === "list" ? (
                        <LineageList
                            picture={picture}
                            isSeen={isSeen}
                            changes={comparison?.changes}
                            rootId={rootId}
                            selectedId={selectedId}
                            picked={view.picked}
                            actions={actions}
                            select={change.select}
                        />
                    ) : (
                        <Canvas
                            {...{ view, picture, rootId, columns, related, actions, isSeen, comparison }}
                            select={change.select}
                        />
                    )}
                </div>
                {view.bar > 0 && <TimeBar view={view} time={time} />}
                {selected?.members && (
                    <BundlePanel bundle={selected} members={selected.members} takeApart={takeApart} />
                )}
                {selected && picture && !selected.members && (
                    <SidePanel
                        node={selected}
                        {...{ view, picture, chosen }}
                        chooseColumn={chooseColumn}
                        marks={comparison?.marks.get(selected.id)}
                        isOpen={view.open.includes(selected.id)}
                        toggleColumns={() => change.toggleColumns(selected.id)}
                        pick={() => change.pick(selected)}
                    />
                )}
                <p className="visually-hidden" role="status">
                    {picture
                        ? `${counted(picture.nodes.length, "node")}, ${counted(picture.links.length, "link")}`
                        : ""}
                </p>
            </div>
        </Pulses.Provider>
    );
}

/** Whether a node or link is shown: what was there at the time of the view, or at the one that it is compared with. */
function seen(present: Picture | undefined, comparison: Comparison | undefined): (id: string) => boolean {
    const there = new Set([...(present?.nodes ?? []), ...(present?.links ?? [])].map(({ id }) => id));
    return (id) => there.has(id) || comparison?.changes.get(id) === "disappeared";
}

/** The part of a picture that is shown. */
function drawn(picture: Picture, isSeen: (id: string) => boolean): Picture {
    const [nodes, links] = [picture.nodes, picture.links];
    return { ...picture, nodes: nodes.filter(({ id }) => isSeen(id)), links: links.filter(({ id }) => isSeen(id)) };
}

/** The names of the columns of each dataset that shows them: those of its schema, and those that lineage names. */
function useColumns(view: LineageView, picture: Picture | undefined): ReadonlyMap<string, string[]> {
    const open = (picture?.nodes ?? []).filter(({ id, kind }) => kind === "dataset" && view.open.includes(id));
    const results = useQueries({ queries: open.map((node) => schemas(node, 1)) });
    const key = JSON.stringify(
        open.map(({ id }, index) => {
            const declared = (results[index]?.data?.versions[0]?.fields ?? []).map(({ name }) => name);
            const named = (picture?.columns ?? []).flatMap((flow) => [
                ...(flow.source === id && flow.sourceField !== "" ? [flow.sourceField] : []),
                ...(flow.target === id && flow.targetField !== "" ? [flow.targetField] : []),
            ]);
            return [id, [...new Set([...declared, ...named.sort(compare)])]];
        }),
    );
    return useMemo(() => new Map(JSON.parse(key) as [string, string[]][]), [key]);
}

/** A chosen column in an address is its node's id and its name, divided by the first dot. */
function columnOf(text: string): ColumnRef {
    const at = text.indexOf(".");
    return { node: text.slice(0, at), field: text.slice(at + 1) };
}
