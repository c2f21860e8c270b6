import { useQuery } from "@tanstack/react-query";
import { lazy, Suspense } from "react";

import type { About } from "../address/about";
import { show, ViewLink } from "../address/history";
import { impactOf } from "../address/impact";
import { keyOf } from "../address/nodes";
import { ledgerOf, lineageOf, type Kind, type LineageView, type NodeRef } from "../address/view";
import { traceOf } from "../address/trace";
import { aliases, described, runs, schemas } from "../api/questions";
import { ago, counted, moment } from "../format/text";
import { Icon, iconOf } from "../parts/Icon";
import { Answer, Empty, Loading } from "../parts/Messages";
import { FullName, Name, ShortName } from "../parts/Name";
import { RunLink } from "../work/runs/RunLink";
import { State } from "../parts/State";
import { useNow } from "../parts/useNow";
import type { ColumnRef, Picture, PictureNode } from "./picture/picture";
import type { Mark } from "./time/comparison";
import { NodeChanges } from "./time/NodeChanges";

const Statistics = lazy(() => import("./about/Statistics"));
const Sql = lazy(() => import("./about/Sql"));
const Events = lazy(() => import("./about/Events"));
const AccessOf = lazy(() => import("./about/Access"));

const TABS: Record<Kind, readonly [About, ...About[]]> = {
    dataset: ["schema", "statistics", "events", "access", "facets", "aliases"],
    job: ["runs", "sql", "statistics", "events", "facets", "aliases"],
};
const WORDS: Record<About, string> = {
    ...{ schema: "Schema", runs: "Runs", sql: "SQL", statistics: "Statistics" },
    ...{ events: "Events", access: "Access", facets: "Facets", aliases: "Aliases" },
};

/** What is known of one node, beside the picture. */
export function SidePanel({
    node,
    marks,
    isOpen,
    toggleColumns,
    pick,
    view,
    picture,
    chosen,
    chooseColumn,
}: {
    node: PictureNode;
    /** What changed between the times that are compared. */
    marks: readonly Mark[] | undefined;
    isOpen: boolean;
    toggleColumns: () => void;
    pick: () => void;
    view: LineageView;
    picture: Picture;
    chosen: ColumnRef;
    chooseColumn: (column: ColumnRef) => void;
}) {
    const tabs = TABS[node.kind];
    const tab = tabs.find((about) => about === view.about) ?? tabs[0];
    const ref: NodeRef = { kind: node.kind, namespace: node.namespace, name: node.name };
    return (
        <aside className="side" aria-label="Selected node">
            <header>
                <Icon name={iconOf(node.kind, node.details?.node_type ?? "", node.details?.system ?? "")} />
                <h2>
                    <Name text={node.name} />
                </h2>
                <p className="namespace">
                    <Name text={node.namespace} />
                </p>
                {node.details?.owners !== undefined && (
                    <p className="hint">
                        Owner <Name text={node.details.owners.join(", ")} />
                    </p>
                )}
                {node.details?.retention !== undefined && (
                    <p className="hint">
                        Kept <Name text={node.details.retention} />
                    </p>
                )}
                {node.details?.state !== undefined && <State state={node.details.state} />}
                <p className="tools">
                    <ViewLink className="button" to={{ ...lineageOf(ref), picked: view.picked }}>
                        <Icon name="graph" />
                        Start here
                    </ViewLink>
                    <ViewLink className="button" to={ledgerOf(ref)}>
                        <Icon name="ledger" />
                        Ledger
                    </ViewLink>
                    <ViewLink className="button" to={impactOf(ref)}>
                        <Icon name="blast" />
                        Impact
                    </ViewLink>
                    <button
                        type="button"
                        aria-pressed={view.picked.some((other) => keyOf(other) === keyOf(ref))}
                        onClick={pick}
                        title="Pick it for one blast radius of several (X)"
                    >
                        <Icon name="check" />
                        Pick
                    </button>
                    {node.kind === "dataset" && (
                        <button type="button" aria-pressed={isOpen} onClick={toggleColumns}>
                            <Icon name="columns" />
                            Columns
                        </button>
                    )}
                </p>
            </header>
            {marks && marks.length > 0 && (
                <section aria-label="What changed">
                    <NodeChanges node={ref} marks={marks} />
                </section>
            )}
            <div role="tablist" aria-label="About the node" className="tabs">
                {tabs.map((about) => (
                    <button
                        key={about}
                        type="button"
                        role="tab"
                        id={`tab-${about}`}
                        aria-selected={about === tab}
                        aria-controls="about"
                        onClick={() => show({ ...view, about }, { replace: true })}
                    >
                        {WORDS[about]}
                    </button>
                ))}
            </div>
            <div role="tabpanel" id="about" aria-labelledby={`tab-${tab}`} tabIndex={0}>
                <Suspense fallback={<Loading />}>
                    {tab === "schema" && <Schema dataset={ref} />}
                    {tab === "runs" && <Runs job={ref} />}
                    {tab === "statistics" && <Statistics key={node.id} node={ref} at={view.at} />}
                    {tab === "sql" && (
                        <Sql job={ref} id={node.id} at={view.at} choose={chooseColumn} {...{ picture, chosen }} />
                    )}
                    {tab === "events" && <Events key={node.id} node={ref} />}
                    {tab === "access" && <AccessOf node={ref} at={view.at} />}
                    {tab === "facets" && <Facets node={ref} />}
                    {tab === "aliases" && <Aliases node={ref} />}
                </Suspense>
            </div>
        </aside>
    );
}

function Schema({ dataset }: { dataset: NodeRef }) {
    return (
        <Answer query={useQuery(schemas(dataset))}>
            {({ versions }) => {
                const [newest, ...older] = versions;
                if (!newest) return <Empty title="Nobody has stated a schema" />;
                return (
                    <>
                        <ul className="plain fields">
                            {newest.fields?.map((field) => (
                                <li key={field.name}>
                                    <ViewLink to={traceOf(dataset, field.name)} title="Where does it come from?">
                                        <Name text={field.name} />
                                    </ViewLink>
                                    <code>{field.type ?? ""}</code>
                                    <ViewLink
                                        to={traceOf(dataset, field.name, "downstream")}
                                        title="Where does it go?"
                                        aria-label={`Where does ${field.name} go?`}
                                    >
                                        <Icon name="downstream" />
                                    </ViewLink>
                                    {field.description !== undefined && (
                                        <p className="hint">
                                            <Name text={field.description} />
                                        </p>
                                    )}
                                </li>
                            ))}
                        </ul>
                        <h3>History</h3>
                        <ol className="plain">
                            {[newest, ...older].map((version) => (
                                <li key={`${version.version} ${version.first.at}`} className="hint">
                                    <code>{version.version.slice(0, 8) || "withdrawn"}</code>{" "}
                                    {counted(version.fields?.length ?? 0, "column")}, since {moment(version.first.at)}
                                    {version.brief && ", for minutes only"}
                                </li>
                            ))}
                        </ol>
                    </>
                );
            }}
        </Answer>
    );
}

function Runs({ job }: { job: NodeRef }) {
    const now = useNow();
    return (
        <Answer query={useQuery(runs(job))}>
            {({ runs: found }) =>
                found.length === 0 ? (
                    <Empty title="It has not run yet" />
                ) : (
                    <ul className="plain rows">
                        {found.map((run) => (
                            <li key={run.run_id}>
                                <State state={run.liveness ?? run.state} />
                                <RunLink id={run.run_id} />
                                <span className="hint">
                                    {run.started_at === undefined ? "no start" : `started ${ago(run.started_at, now)}`}
                                </span>
                                <span className="hint">
                                    {run.ended_at === undefined
                                        ? `last event ${ago(run.last_seen, now)}`
                                        : `ended ${ago(run.ended_at, now)}`}
                                </span>
                                {run.failures?.map((failure) => (
                                    <p key={failure} className="failure">
                                        <ShortName text={failure} most={400} />
                                    </p>
                                ))}
                            </li>
                        ))}
                    </ul>
                )
            }
        </Answer>
    );
}

function Facets({ node }: { node: NodeRef }) {
    return (
        <Answer query={useQuery(described(node))}>
            {({ facets }) => {
                const found = Object.entries(facets as Record<string, unknown>).sort(([a], [b]) => (a < b ? -1 : 1));
                if (found.length === 0) return <Empty title="Nobody has stated a facet" />;
                return found.map(([key, facet]) => (
                    <details key={key} open={key === "documentation" || key === "sql" || key === "ownership"}>
                        <summary>
                            <Name text={key} />
                        </summary>
                        <Facet value={facet} />
                    </details>
                ));
            }}
        </Answer>
    );
}

/** A facet as it was stated, without what names its producer; SQL as it is written. */
function Facet({ value }: { value: unknown }) {
    if (typeof value !== "object" || value === null) return <pre>{JSON.stringify(value)}</pre>;
    const own = Object.fromEntries(Object.entries(value).filter(([key]) => !key.startsWith("_")));
    if (typeof own.query === "string") return <pre>{own.query}</pre>;
    if (typeof own.description === "string" && Object.keys(own).length === 1) return <p>{own.description}</p>;
    return <pre>{JSON.stringify(own, null, 2)}</pre>;
}

function Aliases({ node }: { node: NodeRef }) {
    return (
        <Answer query={useQuery(aliases(node))}>
            {({ aliases: found }) => {
                if (found.length === 0) return <Empty title="It has no other name" />;
                return (
                    <ul className="plain rows">
                        {found.map((alias, index) => (
                            <li key={index}>
                                {[alias.a, alias.b].map((end, side) => (
                                    <FullName
                                        key={side}
                                        namespace={end.namespace}
                                        name={end.name ?? "(the whole namespace)"}
                                    />
                                ))}
                                <p className="hint">
                                    {alias.kind}: <Name text={alias.evidence} />
                                    {!alias.standing && ", without effect"}
                                    {alias.stale && ", not stated lately"}
                                    {alias.asserted_by?.map((by) => (
                                        <span key={`${by.namespace} ${by.name}`}>
                                            , stated by <Name text={by.name} />
                                        </span>
                                    ))}
                                </p>
                            </li>
                        ))}
                    </ul>
                );
            }}
        </Answer>
    );
}
