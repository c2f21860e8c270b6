import { useQueries, useQuery } from "@tanstack/react-query";

import type { NodeRef } from "../../address/view";
import { described, neighbourhood } from "../../api/questions";
import { CopyButton } from "../../parts/CopyButton";
import { Answer, Empty } from "../../parts/Messages";
import { Name } from "../../parts/Name";
import {
    columnKey,
    compare,
    pictureOf,
    relatedColumns,
    type ColumnFlow,
    type ColumnRef,
    type Picture,
} from "../picture/picture";
import { markColumns, type Role } from "./sql";

/** Of how many datasets that a job writes the columns are asked for. */
const MOST_OUTPUTS = 8;
const TITLES: Record<Role, string> = {
    from: "the column comes from it",
    into: "it goes into the column",
    both: "the column comes from a column of this name, and goes into one",
};

interface Props {
    job: NodeRef;
    id: string;
    picture: Picture;
    /** As of this time, RFC 3339; empty for now. */
    at: string;
    /** The column that the view has chosen; its node is empty if it has none. */
    chosen: ColumnRef;
    choose: (column: ColumnRef) => void;
}

/** The SQL of a job; of the flow of columns that is chosen, the names of the columns are marked in it. */
export default function Sql({ job, id, picture, at, chosen, choose }: Props) {
    const names = new Map(picture.nodes.map((node) => [node.id, node.name]));
    const every = useFlows(id, picture, at);
    const flows = every.filter((flow) => flow.job === id && flow.targetField !== "");
    const targets = new Map(
        flows.map(({ target: node, targetField: field }) => [columnKey({ node, field }), { node, field }]),
    );
    const related = chosen.node === "" ? new Set<string>() : relatedColumns(every, chosen);
    const followed = flows.filter(
        ({ source, sourceField, target, targetField }) =>
            related.has(columnKey({ node: source, field: sourceField })) &&
            related.has(columnKey({ node: target, field: targetField })),
    );
    const from = distinct(followed.map(({ sourceField }) => sourceField).filter((field) => field !== ""));
    const into = distinct(followed.map(({ targetField }) => targetField));
    return (
        <Answer query={useQuery(described(job))} kind="job">
            {({ facets }) => {
                const query = queryOf(facets);
                if (query === undefined) return <Empty title="Nobody has stated its SQL" />;
                return (
                    <>
                        <div className="tools">
                            {targets.size > 0 && (
                                <label>
                                    Column that it writes{" "}
                                    <select
                                        value={targets.has(columnKey(chosen)) ? columnKey(chosen) : ""}
                                        onChange={({ target }) => {
                                            const column = targets.get(target.value);
                                            if (column) choose(column);
                                        }}
                                    >
                                        <option value="" disabled>
                                            choose one
                                        </option>
                                        {[...targets]
                                            .sort(([, a], [, b]) => compare(a.field, b.field))
                                            .map(([key, { node, field }]) => (
                                                <option key={key} value={key}>
                                                    {field} of {names.get(node) ?? "a dataset beyond the picture"}
                                                </option>
                                            ))}
                                    </select>
                                </label>
                            )}
                            <CopyButton label="Copy the SQL" text={() => query}>
                                Copy
                            </CopyButton>
                        </div>
                        {followed.length > 0 && (
                            <p className="hint sql-flow">
                                {into.map((field) => (
                                    <Marked key={field} role="into" text={field} />
                                ))}{" "}
                                from{" "}
                                {from.length > 0
                                    ? from.map((field) => <Marked key={field} role="from" text={field} />)
                                    : "no column"}
                                : marked below by their names, wherever the text has them.
                            </p>
                        )}
                        <pre className="sql" tabIndex={0}>
                            {markColumns(query, from, into).map(({ text, role }, index) =>
                                role === undefined ? (
                                    text
                                ) : (
                                    <mark key={index} className={role} title={TITLES[role]}>
                                        {text}
                                    </mark>
                                ),
                            )}
                        </pre>
                    </>
                );
            }}
        </Answer>
    );
}

function Marked({ role, text }: { role: Role; text: string }) {
    return (
        <mark className={role} title={TITLES[role]}>
            <Name text={text} />
        </mark>
    );
}

/**
 * The flows of columns of the picture, and those into what a job writes: a picture around a job does not have them, since it begins at
 * what the job reads and writes.
 */
function useFlows(id: string, picture: Picture, at: string): ColumnFlow[] {
    const written = new Set(picture.links.filter(({ source }) => source === id).map(({ target }) => target));
    const outputs = picture.nodes.filter(({ id: node, kind }) => kind === "dataset" && written.has(node));
    const found = useQueries({
        queries: outputs
            .slice(0, MOST_OUTPUTS)
            .map(({ kind, namespace, name }) =>
                neighbourhood({ node: { kind, namespace, name }, direction: "upstream", depth: 1, at }),
            ),
    });
    return [...picture.columns, ...pictureOf(found.flatMap(({ data }) => (data ? [data] : []))).columns];
}

function queryOf(facets: unknown): string | undefined {
    const { sql } = facets as { sql?: { query?: unknown } };
    return typeof sql?.query === "string" ? sql.query : undefined;
}

function distinct(names: readonly string[]): string[] {
    return [...new Set(names)].sort(compare);
}
