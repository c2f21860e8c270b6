import { useQuery } from "@tanstack/react-query";
import { useState } from "react";

import type { Schemas } from "../../api/client";
import { published } from "../../api/lists";
import { Answer, Empty } from "../../parts/Messages";
import { FullName, ShortName } from "../../parts/Name";
import { State } from "../../parts/State";
import { Table, type Column } from "../../parts/Table";
import { timeColumn } from "../columns";

type Item = Schemas["PublishedObject"];

const COLUMNS: readonly Column<Item>[] = [
    { head: "Kind", cell: ({ kind }) => kind },
    { head: "What", isWide: true, cell: ({ namespace, name }) => <FullName namespace={namespace} name={name} /> },
    {
        head: "State",
        cell: ({ state, ours, detail }) => (
            <>
                <State state={state} />
                {!ours && <p className="hint">made by others</p>}
                {detail && (
                    <p className="hint">
                        <ShortName text={detail} most={160} />
                    </p>
                )}
            </>
        ),
    },
    { head: "Revision", isNumber: true, cell: ({ revision }) => revision },
    timeColumn("Changed", ({ changed_at: at }) => at),
];

/** What was published to a target and what became of it, page by page. */
export function Published({ name }: { name: string }) {
    const [pages, setPages] = useState<readonly string[]>([""]);
    const after = pages.at(-1) ?? "";
    return (
        <Answer query={useQuery(published(name, after))}>
            {({ objects, next }) =>
                objects.length === 0 ? (
                    <Empty title="Nothing was published to it" />
                ) : (
                    <>
                        <Table
                            label="What was published"
                            columns={COLUMNS}
                            rows={objects}
                            keyOf={(item) => JSON.stringify([item.kind, item.namespace, item.name])}
                        />
                        <p className="tools">
                            {pages.length > 1 && (
                                <button type="button" onClick={() => setPages(pages.slice(0, -1))}>
                                    Previous
                                </button>
                            )}
                            {next !== undefined && next !== "" && (
                                <button type="button" onClick={() => setPages([...pages, next])}>
                                    Next
                                </button>
                            )}
                        </p>
                    </>
                )
            }
        </Answer>
    );
}
