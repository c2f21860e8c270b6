import { useQuery } from "@tanstack/react-query";

import type { WorkView } from "../../address/work";
import { answered, client } from "../../api/client";
import { sessions, type BrowserSession } from "../../api/lists";
import { ActionButton, Allowed } from "../../parts/ActionButton";
import { Name } from "../../parts/Name";
import type { Column } from "../../parts/Table";
import { timeColumn } from "../columns";
import { ListPage } from "../ListPage";

const COLUMNS: readonly Column<BrowserSession>[] = [
    {
        head: "Person",
        isWide: true,
        cell: ({ principal, issuer }) => (
            <>
                <Name text={principal} />
                <p className="hint">
                    at <Name text={issuer} />
                </p>
            </>
        ),
        csv: { principal: ({ principal }) => principal, issuer: ({ issuer }) => issuer, id: ({ id }) => id },
    },
    { head: "Address", cell: ({ address }) => address ?? "—", csv: { address: ({ address }) => address } },
    timeColumn("Began", ({ began_at: at }) => at),
    timeColumn("Last used", ({ last_used_at: at }) => at),
    timeColumn("Expires", ({ expires_at: at }) => at),
    {
        head: "Change",
        cell: ({ id, principal }) => (
            <Allowed scope="admin" what="Ending a session">
                <ActionButton
                    label="End"
                    question={`The browser of “${principal}” is signed out with its next request.`}
                    act={(headers) =>
                        answered(client.DELETE("/api/v1/sessions/{name}", { params: { path: { name: id } }, headers }))
                    }
                />
            </Allowed>
        ),
    },
];

/** Browsers that people have signed in with. */
export function Sessions({ view }: { view: WorkView }) {
    return (
        <ListPage
            view={view}
            title="Sessions"
            about="Browsers that people have signed in with, the one that began last first."
            query={useQuery(sessions(view))}
            columns={COLUMNS}
            keyOf={({ id }) => id}
            fields={[{ key: "principal", label: "Person" }]}
            empty={{ title: "Nobody is signed in with a browser" }}
        />
    );
}
