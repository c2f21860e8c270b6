import { useQuery } from "@tanstack/react-query";

import type { WorkView } from "../address/work";
import { aliases, type Alias } from "../api/lists";
import { FullName, Name } from "../parts/Name";
import { State } from "../parts/State";
import type { Column } from "../parts/Table";
import { timeColumn } from "./columns";
import { ListPage } from "./ListPage";

const KINDS = ["operator", "rule", "symlink", "facet", "preferred", "veto"];
const WHOLE = "(the whole namespace)";

const COLUMNS: readonly Column<Alias>[] = [
    {
        head: "Name",
        isWide: true,
        cell: ({ a }) => <FullName namespace={a.namespace} name={a.name ?? WHOLE} />,
        csv: { namespace: ({ a }) => a.namespace, name: ({ a }) => a.name },
    },
    {
        head: "Also",
        isWide: true,
        cell: ({ b }) => <FullName namespace={b.namespace} name={b.name ?? WHOLE} />,
        csv: { other_namespace: ({ b }) => b.namespace, other_name: ({ b }) => b.name },
    },
    { head: "Of a", cell: ({ entity }) => entity, csv: { entity: ({ entity }) => entity } },
    {
        head: "Evidence",
        isWide: true,
        cell: ({ kind, evidence, asserted_by: by }) => (
            <>
                {kind}: <Name text={evidence} />
                {by?.map(({ namespace, name }) => (
                    <p key={`${namespace} ${name}`} className="hint">
                        stated by <Name text={name} />
                    </p>
                ))}
            </>
        ),
        csv: { kind: ({ kind }) => kind, evidence: ({ evidence }) => evidence },
    },
    {
        head: "Effect",
        cell: ({ standing, stale }) => <State state={standing ? (stale ? "stale" : "in effect") : "without effect"} />,
        csv: { standing: ({ standing }) => String(standing) },
    },
    timeColumn("Stated", ({ stated_at: at }) => at),
];

/** That two names are one, and what that rests on. */
export function Aliases({ view }: { view: WorkView }) {
    return (
        <ListPage
            view={view}
            title="Aliases"
            about="Names that stand for the same dataset or job, each with its evidence. What is vetoed has no effect."
            query={useQuery(aliases(view))}
            columns={COLUMNS}
            keyOf={(alias) => JSON.stringify([alias.a, alias.b, alias.kind, alias.entity, alias.evidence])}
            fields={[
                { key: "kind", label: "Evidence", words: KINDS },
                { key: "entity", label: "Of a", words: ["dataset", "job"] },
                { key: "namespace", label: "Namespace" },
                { key: "name", label: "Name" },
            ]}
            empty={{
                title: "Every dataset and job has one name",
                text: (
                    <>
                        An operator says that two names are one with <code>lineage-bridge alias add</code>.
                    </>
                ),
            }}
        />
    );
}
