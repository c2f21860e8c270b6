import { useQuery } from "@tanstack/react-query";

import { ViewLink } from "../address/history";
import { impactOf } from "../address/impact";
import { refOf } from "../address/nodes";
import type { Kind } from "../address/view";
import { workOf, type WorkView } from "../address/work";
import { datasets, jobs, type Described } from "../api/lists";
import { overview } from "../api/questions";
import { whole } from "../format/text";
import { Icon, iconOf, type IconName } from "../parts/Icon";
import { Name, ShortName } from "../parts/Name";
import { State } from "../parts/State";
import type { Column } from "../parts/Table";
import { nameColumn, timeColumn } from "./columns";
import type { Field } from "./Filters";
import { columnsOf, descriptionOf, jobTypeOf, ownersOf, tagsOf } from "./facets";
import { ListPage } from "./ListPage";

const GLOBS = [
    { key: "namespace", label: "Namespace", hint: "kafka://*" },
    { key: "name", label: "Name", hint: "*orders*" },
];

const SAID: readonly Column<Described>[] = [
    {
        head: "Owner",
        cell: ({ facets }) => ownersOf(facets).map((owner) => <Name key={owner} text={owner} />),
        csv: { owner: ({ facets }) => ownersOf(facets).join(", ") },
    },
    {
        head: "Description",
        isWide: true,
        cell: ({ facets }) => <Text text={descriptionOf(facets)} />,
        csv: { description: ({ facets }) => descriptionOf(facets) },
    },
];

const iconIn =
    (kind: Kind) =>
    ({ details }: Described): IconName =>
        iconOf(kind, details?.node_type ?? "", details?.system ?? "");

const DATASET_COLUMNS: readonly Column<Described>[] = [
    nameColumn<Described>("Dataset", "dataset", (row) => row, iconIn("dataset")),
    {
        head: "Columns",
        isNumber: true,
        cell: ({ facets }) => columnsOf(facets) ?? "—",
        csv: { columns: ({ facets }) => columnsOf(facets) },
    },
    {
        head: "Tags",
        cell: ({ facets }) => <Tags tags={tagsOf(facets)} />,
        csv: { tags: ({ facets }) => tagsOf(facets).join(", ") },
    },
    timeColumn("Last written", ({ details }) => details?.last_written),
    ...SAID,
];

const JOB_COLUMNS: readonly Column<Described>[] = [
    nameColumn<Described>("Job", "job", (row) => row, iconIn("job")),
    {
        head: "State",
        cell: ({ details }) => (details?.state === undefined ? "—" : <State state={details.state} />),
        csv: { state: ({ details }) => details?.state },
    },
    timeColumn("Last event", ({ details }) => details?.last_seen),
    {
        head: "Type",
        cell: ({ facets }) => <Text text={jobTypeOf(facets)} />,
        csv: { type: (row) => jobTypeOf(row.facets) },
    },
    {
        head: "Runs",
        cell: ({ namespace, name }) => (
            <ViewLink to={workOf("runs", { namespace, name })} aria-label={`Runs of ${name}`}>
                Runs
            </ViewLink>
        ),
    },
    ...SAID,
];

const SEND = "Point a producer here, or add a source: the start page says how.";

export function Datasets({ view }: { view: WorkView }) {
    return (
        <ListPage
            view={view}
            title="Datasets"
            about="Topics, tables, files and dashboards, by every name that they were reported under."
            query={useQuery(datasets(view))}
            columns={DATASET_COLUMNS}
            keyOf={keyOf}
            fields={GLOBS}
            together={(rows) => <Together kind="dataset" rows={rows} />}
            empty={{ title: "No dataset has been reported yet", text: SEND }}
        />
    );
}

/** Where a page begins in a list whose offsets count all jobs, and not those that it shows. */
function placeOfJob(offset: number): string {
    return offset === 0 ? "From the first job" : `From job ${whole(offset + 1)}`;
}

export function Jobs({ view }: { view: WorkView }) {
    const isCounted = view.filters.type !== undefined || view.filters.state !== undefined;
    return (
        <ListPage
            view={view}
            title="Jobs"
            about="Whatever reads and writes datasets: connectors, streaming queries, batches, consumers and producers."
            query={useQuery(jobs(view))}
            columns={JOB_COLUMNS}
            keyOf={keyOf}
            fields={[...GLOBS, ...useCounted(view)]}
            together={(rows) => <Together kind="job" rows={rows} />}
            {...(isCounted ? { place: placeOfJob } : {})}
            empty={{ title: "No job has been reported yet", text: SEND }}
        />
    );
}

/** What jobs are counted by on the start page: the types and states that there are, and those of the address. */
function useCounted({ filters }: WorkView): readonly Field[] {
    const { data } = useQuery({ ...overview, refetchInterval: false });
    const words = (found: readonly string[], chosen: string | undefined) =>
        [...new Set([...found, ...(chosen === undefined ? [] : [chosen])])].sort();
    return [
        { key: "type", label: "Type", words: words(data?.job_types.map((one) => one.job_type) ?? [], filters.type) },
        { key: "state", label: "State", words: words(data?.states.map((one) => one.state) ?? [], filters.state) },
    ];
}

/** The blast radius of every row of the page: a page has no more than that can be of. */
function Together({ kind, rows }: { kind: "dataset" | "job"; rows: readonly Described[] }) {
    const [first, ...others] = rows.map(({ namespace, name }) => refOf({ kind, namespace, name }));
    if (!first) return null;
    return (
        <ViewLink className="button" to={impactOf(first, ...others)} title="What does a change of all of them affect?">
            <Icon name="blast" />
            Impact of {others.length === 0 ? "it" : `these ${rows.length}`}
        </ViewLink>
    );
}

function keyOf({ namespace, name }: Described): string {
    return JSON.stringify([namespace, name]);
}

function Text({ text }: { text: string }) {
    return text === "" ? "—" : <ShortName text={text} most={200} />;
}

function Tags({ tags }: { tags: readonly string[] }) {
    if (tags.length === 0) return "—";
    return tags.map((tag) => (
        <span key={tag} className="chip">
            <ShortName text={tag} most={40} />
        </span>
    ));
}
