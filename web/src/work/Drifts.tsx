import { useQuery } from "@tanstack/react-query";

import type { WorkView } from "../address/work";
import { drifts, type Drift } from "../api/lists";
import { whole } from "../format/text";
import { FullName } from "../parts/Name";
import type { Column } from "../parts/Table";
import { nameColumn, timeColumn } from "./columns";
import { ListPage } from "./ListPage";

const GLOBS = [
    { key: "namespace", label: "Namespace of the job", hint: "flink*" },
    { key: "name", label: "Job", hint: "*orders*" },
];

const COLUMNS: readonly Column<Drift>[] = [
    nameColumn<Drift>("Job", "job", ({ job }) => job),
    {
        head: "Drift",
        cell: ({ drift }) => (drift === "declared" ? "declared, not observed" : "observed, not declared"),
        csv: { drift: ({ drift }) => drift },
    },
    { head: "What", cell: ({ what }) => what, csv: { what: ({ what }) => what } },
    {
        head: "Dataset or job",
        isWide: true,
        cell: ({ node }) => <FullName {...node} />,
        csv: { node_namespace: ({ node }) => node.namespace, node_name: ({ node }) => node.name },
    },
    {
        head: "Goes to",
        isWide: true,
        cell: ({ target }) => (target ? <FullName {...target} /> : "—"),
        csv: { target_namespace: ({ target }) => target?.namespace, target_name: ({ target }) => target?.name },
    },
    timeColumn<Drift>("Since", ({ since }) => since),
];

/** Where what jobs do differs from what was declared. */
export function Drifts({ view }: { view: WorkView }) {
    return (
        <ListPage
            view={view}
            title="Drift"
            about="Inputs, outputs and flows that were declared and never observed, or observed and not declared, of the jobs that have a declaration."
            query={useQuery(drifts(view))}
            columns={COLUMNS}
            keyOf={({ job, drift, what, node, target }) => JSON.stringify([job, drift, what, node.id, target?.id])}
            fields={GLOBS}
            empty={{ title: "Nothing differs from what was declared" }}
            place={(offset) =>
                offset === 0 ? "From the first declared job" : `From declared job ${whole(offset + 1)}`
            }
        />
    );
}
