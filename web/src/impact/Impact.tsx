import { useQuery } from "@tanstack/react-query";
import { useCallback, useMemo, useState } from "react";

import { show, ViewLink } from "../address/history";
import { GROUPINGS, rootsOf, type ImpactView } from "../address/impact";
import { ledgerOf, lineageOf } from "../address/view";
import type { Schemas } from "../api/client";
import { impact } from "../api/reach";
import { counted, whole } from "../format/text";
import { CopyNote } from "../note/CopyNote";
import type { NoteContent } from "../note/note";
import { CsvButton } from "../parts/CsvButton";
import { DirectionSwitch } from "../parts/DirectionSwitch";
import { Icon } from "../parts/Icon";
import { Answer, Empty } from "../parts/Messages";
import { FullName, Name } from "../parts/Name";
import { saveFile } from "../parts/save";
import { AffectedTable } from "./AffectedTable";
import { ImpactGraph } from "./ImpactGraph";
import { groupsOf, pictureOfImpact, rootIds, type Affected } from "./picture";
import { Roots } from "./Roots";
import { waysFrom, type Way } from "./ways";

type ImpactAnswer = Schemas["ImpactAnswer"];
type WayTo = (id: string) => Way | undefined;

/** What a change of nodes affects, or what they depend on: one answer as a graph, as a list, as CSV and as a note. */
export default function Impact({ view }: { view: ImpactView }) {
    const found = useQuery(impact(view));
    const isDown = view.direction === "downstream";
    const { data } = found;
    const wayTo = useMemo(
        () => (data ? waysFrom(rootIds(data), data.flows ?? [], isDown) : () => undefined),
        [data, isDown],
    );
    const content = useCallback(() => noteContent(view, data as ImpactAnswer), [view, data]);
    return (
        <div className="column wide">
            <h1>
                {isDown ? "Blast radius of " : "What feeds "}
                {view.within !== "" ? (
                    <>
                        everything in <Name text={view.within} />
                    </>
                ) : view.others.length === 0 ? (
                    <FullName {...view.root} />
                ) : (
                    <>
                        <Name text={view.root.name} /> and {counted(view.others.length, "other")}
                    </>
                )}
            </h1>
            <Roots view={view} />
            <div className="tools">
                <DirectionSwitch
                    direction={view.direction}
                    words={{ upstream: "depends on", downstream: "affects" }}
                    choose={(direction) => show({ ...view, direction, lit: [] })}
                />
                <span className="segments" role="group" aria-label="Groups">
                    {(["", ...GROUPINGS] as const).map((by) => (
                        <button
                            key={by}
                            type="button"
                            aria-pressed={by === view.by}
                            onClick={() => show({ ...view, by })}
                        >
                            {by === "" ? "no groups" : `by ${by}`}
                        </button>
                    ))}
                </span>
                <button
                    type="button"
                    aria-pressed={view.as === "list"}
                    onClick={() => show({ ...view, as: view.as === "list" ? "graph" : "list" })}
                >
                    <Icon name={view.as === "list" ? "graph" : "list"} />
                    {view.as === "list" ? "With its graph" : "List alone"}
                </button>
                {view.within === "" && (
                    <>
                        <ViewLink className="button" to={lineageOf(view.root)}>
                            <Icon name="graph" />
                            Lineage
                        </ViewLink>
                        <ViewLink className="button" to={ledgerOf(view.root)}>
                            <Icon name="ledger" />
                            Ledger
                        </ViewLink>
                    </>
                )}
                {data && <CsvButton name="impact" rows={() => csvRows(data.affected, wayTo)} />}
                {data && (
                    <button type="button" onClick={() => saveFile("impact.json", jsonOf(data))}>
                        <Icon name="download" />
                        JSON
                    </button>
                )}
                {data && <CopyNote content={content} />}
            </div>
            <Answer query={found} kind={view.root.kind}>
                {(answer) => (
                    <>
                        <Counts answer={answer} />
                        {answer.affected.length === 0 ? (
                            <Empty title={isDown ? "Nothing depends on it" : "It depends on nothing"}>
                                <p>As far as runs and declarations say.</p>
                            </Empty>
                        ) : (
                            <Ways {...{ view, answer, wayTo }} />
                        )}
                    </>
                )}
            </Answer>
        </div>
    );
}

/** The graph and the list of an answer: the way to the row that is looked at, and those that were kept, are lit in the graph. */
function Ways({ view, answer, wayTo }: { view: ImpactView; answer: ImpactAnswer; wayTo: WayTo }) {
    const [looked, look] = useState("");
    const picture = useMemo(() => pictureOfImpact(answer), [answer]);
    const roots = useMemo(() => new Set(rootIds(answer)), [answer]);
    const groups = useMemo(
        () =>
            view.by === ""
                ? [{ word: "", items: answer.affected, datasets: 0, jobs: 0 }]
                : groupsOf(answer.affected, view.by),
        [answer, view.by],
    );
    const lit = useMemo(() => {
        const ways = [...view.lit, looked].flatMap((id) => wayTo(id) ?? []);
        return new Set(ways.flatMap(({ nodes, links }) => [...nodes, ...links]));
    }, [view.lit, looked, wayTo]);
    const keep = (id: string) => {
        const others = view.lit.filter((other) => other !== id);
        show({ ...view, lit: others.length < view.lit.length ? others : [...others, id] }, { replace: true });
    };
    return (
        <>
            {view.as === "graph" && <ImpactGraph {...{ view, picture, roots, lit }} />}
            <AffectedTable
                key={`${view.direction} ${view.by}`}
                {...{ groups, wayTo, look, keep }}
                otherwise={view.by === "" ? "" : view.by === "system" ? "unknown system" : "nobody stated as owner"}
                root={view.within === "" && view.others.length === 0 ? view.root : undefined}
                isDown={view.direction === "downstream"}
                lit={view.lit}
            />
        </>
    );
}

function Counts({ answer }: { answer: ImpactAnswer }) {
    const { counts, truncated, beyond, affected, origins } = answer;
    const listed = counts.datasets + counts.jobs;
    return (
        <>
            <p className="figures">
                <span>
                    <b>{whole(counts.datasets)}</b> {counts.datasets === 1 ? "dataset" : "datasets"}
                </span>
                <span>
                    <b>{whole(counts.jobs)}</b> {counts.jobs === 1 ? "job" : "jobs"}
                </span>
                <span>
                    <b>{whole(counts.all)}</b> wholly
                </span>
                <span>
                    <b>{whole(counts.some)}</b> in part
                </span>
            </p>
            {beyond && (
                <p className="hint">
                    {counted(beyond.datasets, "dataset")} and {counted(beyond.jobs, "job")} more lie beyond what you may
                    see.
                </p>
            )}
            {truncated !== "" && (
                <p className="notice warn" role="status">
                    <Icon name="warning" />
                    {truncated === "origins"
                        ? `Only the first ${whole(origins.length)} datasets and jobs are asked about: there are more.`
                        : `The limit of ${truncated} ended the search: there is more.`}
                </p>
            )}
            {affected.length < listed && (
                <p className="notice warn" role="status">
                    <Icon name="warning" />
                    The nearest {whole(affected.length)} of {whole(listed)} are listed; the API gives the rest.
                </p>
            )}
        </>
    );
}

function csvRows(items: readonly Affected[], wayTo: WayTo): (string | number | undefined)[][] {
    return [
        [
            ...["kind", "namespace", "name", "distance", "paths", "extent", "system", "owner", "way_known"],
            ...["freshness", "last_written", "last_read", "last_run"],
        ],
        ...items.map(({ node, distance, paths, extent, details }) => [
            node.kind,
            node.namespace,
            node.name,
            distance,
            paths,
            extent,
            details?.system,
            details?.owners?.join(", "),
            wayTo(node.id)?.origin,
            ...[details?.freshness, details?.last_written, details?.last_read, details?.last_seen],
        ]),
    ];
}

/** The answer as the API gave it, with the link to it and the time. */
function jsonOf(answer: ImpactAnswer): Blob {
    const whole = { link: window.location.href, at: new Date().toISOString(), ...answer };
    return new Blob([JSON.stringify(whole, null, 2)], { type: "application/json" });
}

/** The answer for a chat or a ticket. */
function noteContent(view: ImpactView, answer: ImpactAnswer): NoteContent {
    const { counts, affected, truncated } = answer;
    return {
        subject: view.direction === "downstream" ? "Blast radius of" : "What feeds",
        names: view.within === "" ? rootsOf(view) : [{ namespace: view.within, name: "everything" }],
        window: `as of ${new Date().toISOString()}`,
        sentences: [
            `${counted(counts.datasets, "dataset")}, ${counted(counts.jobs, "job")}`,
            ...(truncated === "" ? [] : [`the limit of ${truncated} ended the search`]),
        ],
        items: affected
            .filter(({ node }) => node.kind === "dataset")
            .map(({ node, distance }) => ({ ...node, words: counted(distance, "hop") })),
        picture: pictureOfImpact(answer),
        rootIds: rootIds(answer),
    };
}
