import { useQuery } from "@tanstack/react-query";

import type { WorkView } from "../../address/work";
import { answered, client } from "../../api/client";
import { keys, type Key } from "../../api/lists";
import { ActionButton, Allowed } from "../../parts/ActionButton";
import { Name } from "../../parts/Name";
import { State } from "../../parts/State";
import type { Column } from "../../parts/Table";
import { timeColumn } from "../columns";
import { ListPage } from "../ListPage";
import { AddKey } from "./AddKey";

const COLUMNS: readonly Column<Key>[] = [
    {
        head: "Key",
        isWide: true,
        cell: ({ name, id, note }) => (
            <>
                <Name text={name} />
                <p className="hint">
                    <code>{id}</code> {note !== "" && <Name text={note} />}
                </p>
            </>
        ),
        csv: { name: ({ name }) => name, id: ({ id }) => id, note: ({ note }) => note },
    },
    { head: "State", cell: ({ state }) => <State state={state} />, csv: { state: ({ state }) => state } },
    {
        head: "May",
        cell: ({ scopes }) => scopes.join(", "),
        csv: { scopes: ({ scopes }) => scopes.join(", ") },
    },
    {
        head: "Limited to",
        cell: ({ namespaces, teams }) =>
            [...namespaces, ...(teams ?? [])].map((limit) => <Name key={limit} text={limit} />),
        csv: { namespaces: ({ namespaces }) => namespaces.join(", "), teams: ({ teams }) => (teams ?? []).join(", ") },
    },
    timeColumn("Last used", ({ last_used_at: at }) => at),
    timeColumn("Expires", ({ expires_at: at }) => at),
    {
        head: "Change",
        cell: ({ state, name, id }) => state === "active" && <Revoke name={name} id={id} />,
    },
];

/** API keys: what each may do, and when it was used. */
export function Keys({ view }: { view: WorkView }) {
    return (
        <ListPage
            view={view}
            title="API keys"
            about="What programs come with. The key itself is shown once, where it is created."
            query={useQuery(keys(view.offset))}
            columns={COLUMNS}
            keyOf={({ id }) => id}
            actions={<AddKey />}
            empty={{
                title: "There is no key",
                text: <code>lineage-bridge key create NAME --scope read</code>,
            }}
        />
    );
}

function Revoke({ name, id }: { name: string; id: string }) {
    return (
        <Allowed scope="admin" what="Revoking">
            <ActionButton
                label="Revoke"
                question={`The key “${name}” (${id}) stops working at once. That cannot be undone.`}
                act={(headers) =>
                    answered(client.DELETE("/api/v1/keys/{name}", { params: { path: { name: id } }, headers }))
                }
            />
        </Allowed>
    );
}
