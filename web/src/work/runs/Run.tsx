import { useQuery } from "@tanstack/react-query";

import { ViewLink } from "../../address/history";
import { lineageOf } from "../../address/view";
import { workOf } from "../../address/work";
import type { Schemas } from "../../api/client";
import { runTree } from "../../api/lists";
import { between, counted, moment, duration } from "../../format/text";
import { Facts } from "../../parts/Facts";
import { Icon } from "../../parts/Icon";
import { Answer } from "../../parts/Messages";
import { FullName, ShortName } from "../../parts/Name";
import { RunLink } from "./RunLink";
import { State } from "../../parts/State";
import { Table, type Column } from "../../parts/Table";
import { ganttOf, type Bar, type TreeRun } from "./gantt";

/** A run: what it was part of, what it read and wrote, and when the runs inside of it were going. */
export function Run({ id }: { id: string }) {
    return (
        <>
            <h1>
                Run <code>{id}</code>
            </h1>
            <Answer query={useQuery(runTree(id))} kind="job">
                {({ runs, truncated }) => {
                    const own = runs.filter(({ depth }) => (depth ?? 0) === 0);
                    return (
                        <>
                            {own.map((run) => (
                                <About key={`${run.job.namespace} ${run.job.name}`} run={run} />
                            ))}
                            <h2>When it ran{runs.length > own.length && ", and what ran inside of it"}</h2>
                            <Gantt runs={runs} />
                            {truncated && (
                                <p className="notice warn" role="status">
                                    <Icon name="warning" />
                                    The first {runs.length} runs are shown; there are more.
                                </p>
                            )}
                        </>
                    );
                }}
            </Answer>
        </>
    );
}

function About({ run }: { run: TreeRun }) {
    const { job } = run;
    return (
        <section className="card">
            <h2>
                <ViewLink to={lineageOf({ kind: "job", namespace: job.namespace, name: job.name })}>
                    <FullName {...job} />
                </ViewLink>
            </h2>
            <p className="tools">
                <State state={run.liveness ?? run.state} />
                <ViewLink className="button" to={workOf("events", { run: run.run_id })}>
                    <Icon name="list" />
                    Events
                </ViewLink>
                <ViewLink className="button" to={workOf("runs", { namespace: job.namespace, name: job.name })}>
                    <Icon name="clock" />
                    All runs of the job
                </ViewLink>
            </p>
            <Facts
                of={[
                    ["Started", run.started_at && moment(run.started_at) + (run.started_inferred ? ", inferred" : "")],
                    ["Ended", run.ended_at && moment(run.ended_at)],
                    ["Last event", moment(run.last_seen)],
                    ["Took", run.started_at && run.ended_at && between(run.started_at, run.ended_at)],
                    ["Stands for", run.nominal_start && moment(run.nominal_start)],
                    ["Id as sent", run.raw_id],
                    ["Inside of", run.parent_run_id && <RunLink id={run.parent_run_id} />],
                    ["Topmost", run.root_run_id && <RunLink id={run.root_run_id} />],
                    ["Known from", run.unobserved && "other runs alone: it has sent no event"],
                    ["Reads", run.inputs.length > 0 && <Datasets of={run.inputs} />],
                    ["Writes", run.outputs.length > 0 && <Datasets of={run.outputs} />],
                    ["After", run.dependencies && run.dependencies.length > 0 && <Dependencies run={run} />],
                ]}
            />
            {run.failures?.map((text) => (
                <pre key={text} className="failure">
                    {text}
                </pre>
            ))}
        </section>
    );
}

function Datasets({ of }: { of: readonly Schemas["DatasetRef"][] }) {
    return (
        <ul className="plain">
            {of.map(({ namespace, name }) => (
                <li key={`${namespace} ${name}`}>
                    <ViewLink to={lineageOf({ kind: "dataset", namespace, name })}>
                        <FullName namespace={namespace} name={name} />
                    </ViewLink>
                </li>
            ))}
        </ul>
    );
}

function Dependencies({ run }: { run: TreeRun }) {
    return (
        <ul className="plain">
            {run.dependencies?.map(({ job, direction, run_id: id }) => (
                <li key={`${direction} ${job.namespace} ${job.name}`}>
                    {direction}: <FullName {...job} /> {id !== undefined && <RunLink id={id} />}
                </li>
            ))}
        </ul>
    );
}

function Gantt({ runs }: { runs: readonly TreeRun[] }) {
    const gantt = ganttOf(runs);
    const rows = runs.map((run, index) => ({ run, bar: gantt?.bars[index] }));
    return (
        <>
            {gantt && (
                <p className="hint">
                    {counted(runs.length, "run")}, {moment(gantt.since)} to {moment(gantt.until)}:{" "}
                    {duration(gantt.seconds)}
                </p>
            )}
            <Table
                label="Runs in their time"
                columns={GANTT_COLUMNS}
                rows={rows}
                keyOf={({ run }) => `${run.run_id} ${run.job.namespace} ${run.job.name}`}
            />
        </>
    );
}

interface GanttRow {
    run: TreeRun;
    bar: Bar | undefined;
}

const GANTT_COLUMNS: readonly Column<GanttRow>[] = [
    {
        head: "Run",
        cell: ({ run }) => (
            <div className="nested" style={{ paddingInlineStart: `${Math.min(run.depth ?? 0, 8) * 1.1}rem` }}>
                <RunLink id={run.run_id} />
                <small>
                    <ShortName text={run.job.name} most={60} />
                </small>
            </div>
        ),
    },
    { head: "State", cell: ({ run }) => <State state={run.liveness ?? run.state} /> },
    {
        head: "When",
        isWide: true,
        cell: ({ run, bar }) =>
            bar && (
                <span className="gantt" aria-hidden="true">
                    <i
                        className={[run.state.toLowerCase(), bar.isOpen && "unended"].filter(Boolean).join(" ")}
                        style={{ left: `${bar.left}%`, width: `${bar.width}%` }}
                    />
                </span>
            ),
    },
    {
        head: "Took",
        isNumber: true,
        cell: ({ bar }) => (bar ? `${duration(bar.seconds)}${bar.isOpen ? " so far" : ""}` : "—"),
    },
];
