import { useQuery } from "@tanstack/react-query";

import { ViewLink } from "../address/history";
import { lineageOf } from "../address/view";
import { workOf } from "../address/work";
import type { Schemas } from "../api/client";
import { drift, quarantine, sources } from "../api/questions";
import { ago, counted, whole } from "../format/text";
import { useNow } from "../parts/useNow";
import { FullName, Name, ShortName } from "../parts/Name";
import { State } from "../parts/State";
import { Asked, Group } from "./Group";
import { SchemaChanges } from "./SchemaChanges";

const SHOWN = 5;

/** What needs attention, each with a link to it; and what could not be asked, with the reason. */
export function Attention({ overview }: { overview: Schemas["OverviewAnswer"] }) {
    return (
        <section aria-labelledby="attention">
            <h2 id="attention">What needs attention</h2>
            <div className="attention">
                <Urgent overview={overview} />
                <SchemaChanges />
                <Drifted />
                <Rejected />
                <Failing />
            </div>
        </section>
    );
}

function Urgent({ overview }: { overview: Schemas["OverviewAnswer"] }) {
    const now = useNow();
    const counted = new Map(overview.states.map(({ state, jobs }) => [state, jobs]));
    const states = [...new Set(overview.urgent.map(({ state }) => state))];
    const count = states.reduce((sum, state) => sum + (counted.get(state) ?? 0), 0);
    return (
        <Group
            title={count > 0 ? `${count === 1 ? "job" : "jobs"} failed or fell silent` : "No job failed or fell silent"}
            count={count}
        >
            {count > 0 && (
                <p className="states">
                    {states.map((state) => (
                        <ViewLink key={state} to={workOf("jobs", { state })}>
                            <State state={state} count={whole(counted.get(state) ?? 0)} />
                        </ViewLink>
                    ))}
                </p>
            )}
            <ul className="plain rows">
                {overview.urgent.map(({ job, state, run }) => (
                    <li key={`${job.namespace} ${job.name}`}>
                        <ViewLink to={lineageOf({ kind: "job", ...pick(job) })}>
                            <FullName {...job} />
                        </ViewLink>
                        <State state={state} />
                        <ViewLink className="hint" to={workOf("runs", {}, run.run_id)}>
                            last event {ago(run.last_seen, now)}
                        </ViewLink>
                        {run.failures?.[0] !== undefined && (
                            <p className="hint">
                                <ShortName text={run.failures[0]} most={160} />
                            </p>
                        )}
                    </li>
                ))}
            </ul>
        </Group>
    );
}

function Drifted() {
    return (
        <Asked query={useQuery(drift)} title="Drift">
            {({ drifts, next }) => (
                <Group
                    title={
                        drifts.length > 0 ? "differ from what was declared" : "Nothing differs from what was declared"
                    }
                    count={drifts.length}
                    to={workOf("drift")}
                >
                    <ul className="plain rows">
                        {drifts.slice(0, SHOWN).map((item, index) => (
                            <li key={index}>
                                <ViewLink to={lineageOf({ kind: "job", ...pick(item.job) })}>
                                    <FullName {...item.job} />
                                </ViewLink>
                                <p className="hint">
                                    {item.what} <Name text={item.node.name} />
                                    {item.target && (
                                        <>
                                            {" to "}
                                            <Name text={item.target.name} />
                                        </>
                                    )}
                                    {item.drift === "declared"
                                        ? " was declared, and no run showed it"
                                        : " was observed, and is not declared"}
                                </p>
                            </li>
                        ))}
                    </ul>
                    {(next !== undefined || drifts.length > SHOWN) && (
                        <p className="hint">
                            <ViewLink to={workOf("drift")}>All of them</ViewLink>
                        </p>
                    )}
                </Group>
            )}
        </Asked>
    );
}

function Rejected() {
    const now = useNow();
    return (
        <Asked query={useQuery(quarantine)} title="Quarantine">
            {({ items, counts, counts_truncated: isCut }) => {
                const count = Object.values(counts).reduce((sum, number) => sum + number, 0);
                return (
                    <Group
                        title={
                            count > 0 ? `${count === 1 ? "event" : "events"} in quarantine` : "No event in quarantine"
                        }
                        count={count}
                        to={workOf("quarantine")}
                    >
                        {isCut && <p className="hint">Counted among the newest 10,000; there are more.</p>}
                        <ul className="plain rows">
                            {items.map((item) => (
                                <li key={item.event_id}>
                                    <ViewLink to={workOf("quarantine", { code: item.code })}>
                                        <code>{item.code}</code>
                                    </ViewLink>
                                    <span className="hint">{ago(item.arrived_at, now)}</span>
                                    <p className="hint">
                                        <ShortName text={item.message} most={160} />
                                    </p>
                                </li>
                            ))}
                        </ul>
                    </Group>
                );
            }}
        </Asked>
    );
}

function Failing() {
    return (
        <Asked query={useQuery(sources)} title="Sources">
            {({ sources: every }) => {
                const found = every.filter(({ state }) => state === "failing" || state === "partial");
                if (every.length === 0) return null;
                return (
                    <Group
                        title={
                            found.length > 0
                                ? `of ${counted(every.length, "source")} see not everything`
                                : "Every source sees everything"
                        }
                        count={found.length}
                        to={workOf("sources")}
                    >
                        <ul className="plain rows">
                            {found.slice(0, SHOWN).map((source) => (
                                <li key={source.name}>
                                    <ViewLink to={workOf("sources", {}, source.name)}>
                                        <Name text={source.name} />
                                    </ViewLink>
                                    <State state={source.state} />
                                    <p className="hint">
                                        <ShortName
                                            text={source.last_error?.message ?? source.unseen[0]?.why ?? ""}
                                            most={160}
                                        />
                                    </p>
                                </li>
                            ))}
                        </ul>
                    </Group>
                );
            }}
        </Asked>
    );
}

function pick({ namespace, name }: { namespace: string; name: string }) {
    return { namespace, name };
}
