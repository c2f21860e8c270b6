import { useQuery } from "@tanstack/react-query";

import { ViewLink } from "../../address/history";
import { lineageOf } from "../../address/view";
import { workOf, type WorkView } from "../../address/work";
import type { Page } from "../../api/client";
import { events, runsOfJob, type Run } from "../../api/lists";
import { between } from "../../format/text";
import { FullName, ShortName } from "../../parts/Name";
import { RunLink } from "./RunLink";
import { State } from "../../parts/State";
import type { Column } from "../../parts/Table";
import { SearchField } from "../../search/SearchField";
import { nameColumn, Time, timeColumn } from "../columns";
import { ListPage } from "../ListPage";
import { recentRuns, type RecentRun } from "./recent";

const STATES = ["START", "RUNNING", "COMPLETE", "FAIL", "ABORT", "UNKNOWN"];
/** From how many of the newest events the recent runs are read. */
const EVENTS = 500;

const RUN_COLUMNS: readonly Column<Run>[] = [
    { head: "Run", cell: ({ run_id: id }) => <RunLink id={id} />, csv: { run_id: ({ run_id: id }) => id } },
    {
        head: "State",
        cell: ({ liveness, state, conflict }) => (
            <>
                <State state={liveness ?? state} />
                {conflict && <p className="hint">two events end it differently</p>}
            </>
        ),
        csv: { state: ({ state }) => state, liveness: ({ liveness }) => liveness },
    },
    timeColumn("Started", ({ started_at: at }) => at),
    {
        head: "Ended",
        cell: ({ ended_at: end, last_seen: last }) =>
            end === undefined ? (
                <span className="hint">
                    last event <Time at={last} />
                </span>
            ) : (
                <Time at={end} />
            ),
        csv: { ended_at: ({ ended_at: end }) => end, last_seen: ({ last_seen: last }) => last },
    },
    {
        head: "Took",
        cell: ({ started_at: start, ended_at: end }) => (start && end ? between(start, end) : "—"),
    },
    {
        head: "Failures",
        isWide: true,
        cell: ({ failures }) =>
            failures?.map((text) => (
                <p key={text} className="failure">
                    <ShortName text={text} most={200} />
                </p>
            )),
        csv: { failures: ({ failures }) => failures?.join("\n") },
    },
];

const RECENT_COLUMNS: readonly Column<RecentRun>[] = [
    { head: "Run", cell: ({ id }) => <RunLink id={id} />, csv: { run_id: ({ id }) => id } },
    nameColumn<RecentRun>("Job", "job", ({ job }) => job),
    { head: "Latest event", cell: ({ state }) => <State state={state} />, csv: { state: ({ state }) => state } },
    timeColumn("At", ({ at }) => at),
    {
        head: "Of the job",
        cell: ({ job }) => (
            <ViewLink to={workOf("runs", job)} aria-label={`All runs of ${job.name}`}>
                All runs
            </ViewLink>
        ),
    },
];

/** The runs of a job; without one, the runs that sent events last. */
export function Runs({ view }: { view: WorkView }) {
    const { namespace, name } = view.filters;
    return namespace === undefined || name === undefined ? (
        <RecentRuns view={view} />
    ) : (
        <RunsOfJob view={view} job={{ namespace, name }} />
    );
}

function RunsOfJob({ view, job }: { view: WorkView; job: { namespace: string; name: string } }) {
    return (
        <ListPage
            view={view}
            title="Runs of a job"
            about={
                <ViewLink to={lineageOf({ kind: "job", ...job })}>
                    <FullName {...job} />
                </ViewLink>
            }
            query={useQuery(runsOfJob(view))}
            columns={RUN_COLUMNS}
            keyOf={({ run_id: id, job: of }) => `${id} ${of.namespace} ${of.name}`}
            fields={[{ key: "state", label: "State", words: STATES }]}
            empty={{ title: "It has not run yet" }}
        />
    );
}

function RecentRuns({ view }: { view: WorkView }) {
    const asked = { ...view, filters: {}, offset: 0 };
    const found = useQuery({
        ...events(asked, EVENTS),
        select: ({ items }): Page<RecentRun> => ({ items: recentRuns(items), hasNext: false }),
    });
    return (
        <ListPage
            view={asked}
            title="Runs"
            about="The runs that sent events last. Of a job all are listed: choose one."
            query={found}
            columns={RECENT_COLUMNS}
            keyOf={({ id }) => id}
            actions={<SearchField label="Search a job" to={jobRuns} />}
            empty={{ title: "Nothing has run yet" }}
        />
    );
}

function jobRuns({ kind, namespace, name }: { kind: string; namespace: string; name: string }) {
    return kind === "job" ? workOf("runs", { namespace, name }) : workOf("jobs", { namespace, name });
}
