import { Fragment, type ReactNode } from "react";

/** A column of a table: what it shows of a row, and what of that goes into a CSV file. */
export interface Column<Row> {
    head: string;
    cell: (row: Row) => ReactNode;
    /** What a CSV file has of it, by head; nothing without it. */
    csv?: Readonly<Record<string, (row: Row) => string | number | undefined>>;
    isNumber?: boolean;
    isWide?: boolean;
}

interface Props<Row> {
    label: string;
    columns: readonly Column<Row>[];
    rows: readonly Row[];
    keyOf: (row: Row) => string;
    /** What is shown below a row; undefined for rows that are closed. */
    below?: (row: Row) => ReactNode;
}

/**
 * A table; where there is little room, each row is a card with the heads beside the values.
 *
 * The roles are written out, since a browser takes them from a table whose rows are laid out as cards.
 */
export function Table<Row>({ label, columns, rows, keyOf, below }: Props<Row>) {
    const classOf = ({ isNumber, isWide }: Column<Row>) =>
        [isNumber && "number", isWide && "wide"].filter(Boolean).join(" ") || undefined;
    return (
        <div className="table-frame" tabIndex={0} role="region" aria-label={label}>
            <table className="cards-when-narrow" role="table" aria-label={label}>
                <thead role="rowgroup">
                    <tr role="row">
                        {columns.map((column) => (
                            <th key={column.head} role="columnheader" scope="col" className={classOf(column)}>
                                {column.head}
                            </th>
                        ))}
                    </tr>
                </thead>
                <tbody role="rowgroup">
                    {rows.map((row) => {
                        const shown = below?.(row);
                        return (
                            <Fragment key={keyOf(row)}>
                                <tr role="row" className={shown === undefined ? undefined : "open"}>
                                    {columns.map((column, index) =>
                                        index === 0 ? (
                                            <th key={column.head} role="rowheader" scope="row" data-head={column.head}>
                                                {column.cell(row)}
                                            </th>
                                        ) : (
                                            <td
                                                key={column.head}
                                                role="cell"
                                                data-head={column.head}
                                                className={classOf(column)}
                                            >
                                                <div>{column.cell(row)}</div>
                                            </td>
                                        ),
                                    )}
                                </tr>
                                {shown !== undefined && (
                                    <tr role="row" className="below">
                                        <td role="cell" colSpan={columns.length}>
                                            {shown}
                                        </td>
                                    </tr>
                                )}
                            </Fragment>
                        );
                    })}
                </tbody>
            </table>
        </div>
    );
}

/** The rows as a CSV file has them, the heads first. */
export function csvRows<Row>(columns: readonly Column<Row>[], rows: readonly Row[]): (string | number | undefined)[][] {
    const written = columns.flatMap(({ csv }) => Object.entries(csv ?? {}));
    return [written.map(([head]) => head), ...rows.map((row) => written.map(([, value]) => value(row)))];
}
