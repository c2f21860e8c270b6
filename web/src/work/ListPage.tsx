import type { UseQueryResult } from "@tanstack/react-query";
import type { ReactNode } from "react";

import { ViewLink } from "../address/history";
import type { WorkView } from "../address/work";
import type { Page } from "../api/client";
import { PAGE } from "../api/lists";
import { whole } from "../format/text";
import { CsvButton } from "../parts/CsvButton";
import { Answer, Empty } from "../parts/Messages";
import { csvRows, Table, type Column } from "../parts/Table";
import { Filters, type Field } from "./Filters";

interface Props<Row> {
    view: WorkView;
    title: string;
    /** What the list is, in a sentence. */
    about: ReactNode;
    query: UseQueryResult<Page<Row>>;
    columns: readonly Column<Row>[];
    keyOf: (row: Row) => string;
    /** What an empty list says, and what to do. */
    empty: { title: string; text?: ReactNode };
    fields?: readonly Field[];
    actions?: ReactNode;
    below?: (row: Row) => ReactNode;
    /** What can be asked about all entries of the page at once. */
    together?: (items: readonly Row[]) => ReactNode;
    /** Which part of the list is shown, in words, if its offsets do not count its entries. */
    place?: (offset: number) => string;
}

/** A list of the server: what narrows it, its rows page by page, and the same as CSV. */
export function ListPage<Row>(props: Props<Row>) {
    const { view, title, about, query, columns, keyOf, empty, fields = [], actions, below, together, place } = props;
    const isNarrowed = Object.keys(view.filters).length > 0;
    return (
        <>
            <h1>{title}</h1>
            <p className="lead">{about}</p>
            {fields.length > 0 && <Filters key={JSON.stringify(view.filters)} view={view} fields={fields} />}
            {actions}
            <Answer query={query} kind={view.list === "runs" ? "job" : "dataset"}>
                {({ items, hasNext, next }) =>
                    items.length === 0 && hasNext ? (
                        <Empty title="Nothing matches so far">
                            <ViewLink to={{ ...view, offset: next ?? view.offset, open: "" }}>Look further</ViewLink>
                        </Empty>
                    ) : items.length === 0 ? (
                        <Empty title={isNarrowed ? "Nothing matches" : empty.title}>
                            {isNarrowed || view.offset > 0 ? (
                                <ViewLink to={{ ...view, filters: {}, offset: 0, open: "" }}>Show all</ViewLink>
                            ) : (
                                empty.text
                            )}
                        </Empty>
                    ) : (
                        <>
                            <Table
                                label={title}
                                columns={columns}
                                rows={items}
                                keyOf={keyOf}
                                {...(below ? { below } : {})}
                            />
                            <div className="tools pager">
                                <Pager
                                    view={view}
                                    hasNext={hasNext}
                                    next={next ?? view.offset + items.length}
                                    isCounted={place === undefined}
                                    place={
                                        place?.(view.offset) ??
                                        `${whole(view.offset + 1)} to ${whole(view.offset + items.length)}`
                                    }
                                />
                                {together?.(items)}
                                <CsvButton name={view.list} rows={() => csvRows(columns, items)} />
                            </div>
                        </>
                    )
                }
            </Answer>
        </>
    );
}

interface PagerProps {
    view: WorkView;
    place: string;
    next: number;
    hasNext: boolean;
    /** Whether offsets count the entries. If not, nobody knows where the page before begins. */
    isCounted: boolean;
}

/** Where the page is in its list, and the way to those beside it. */
function Pager({ view, place, next, hasNext, isCounted }: PagerProps) {
    const { offset } = view;
    return (
        <nav className="tools" aria-label="Pages">
            {offset > 0 && (
                <ViewLink
                    className="button"
                    to={{ ...view, offset: isCounted ? Math.max(0, offset - PAGE) : 0, open: "" }}
                >
                    {isCounted ? "Previous" : "First"}
                </ViewLink>
            )}
            <span className="hint">
                {place}
                {hasNext ? "" : ", the last"}
            </span>
            {hasNext && (
                <ViewLink className="button" to={{ ...view, offset: next, open: "" }}>
                    Next
                </ViewLink>
            )}
        </nav>
    );
}
