/** Columns that several lists have. */

import { ViewLink } from "../address/history";
import { lineageOf, type Kind } from "../address/view";
import { moment } from "../format/text";
import { Icon, type IconName } from "../parts/Icon";
import { FullName } from "../parts/Name";
import type { Column } from "../parts/Table";

interface Named {
    namespace: string;
    name: string;
}

/** The name of a dataset or job, which leads to its lineage. */
export function nameColumn<Row>(
    head: string,
    kind: Kind,
    nameOf: (row: Row) => Named | undefined,
    iconOf: (row: Row) => IconName = () => (kind === "job" ? "job" : "table"),
): Column<Row> {
    return {
        head,
        isWide: true,
        cell: (row) => {
            const found = nameOf(row);
            if (!found) return "—";
            const { namespace, name } = found;
            return (
                <ViewLink className="row-name" to={lineageOf({ kind, namespace, name })}>
                    <Icon name={iconOf(row)} />
                    <FullName namespace={namespace} name={name} />
                </ViewLink>
            );
        },
        csv: { namespace: (row) => nameOf(row)?.namespace, name: (row) => nameOf(row)?.name },
    };
}

/** A time; a dash where there is none. */
export function timeColumn<Row>(head: string, timeOf: (row: Row) => string | undefined): Column<Row> {
    return {
        head,
        cell: (row) => <Time at={timeOf(row)} />,
        csv: { [head.toLowerCase().replaceAll(" ", "_")]: (row) => timeOf(row) },
    };
}

export function Time({ at }: { at: string | undefined }) {
    return at === undefined || at === "" ? "—" : <time dateTime={at}>{moment(at)}</time>;
}
