import { useQuery } from "@tanstack/react-query";

import type { WorkView } from "../../address/work";
import { answered, client } from "../../api/client";
import { quarantine, type Rejected } from "../../api/lists";
import { whole } from "../../format/text";
import { ActionButton, Allowed } from "../../parts/ActionButton";
import { Facts } from "../../parts/Facts";
import { Icon } from "../../parts/Icon";
import { saveFile } from "../../parts/save";
import { Name, ShortName } from "../../parts/Name";
import type { Column } from "../../parts/Table";
import { nameColumn, timeColumn } from "../columns";
import { ListPage } from "../ListPage";
import { OpenToggle } from "../OpenToggle";

/** Rejected events, each with its reason; whoever may has them judged again. */
export function Quarantine({ view }: { view: WorkView }) {
    const found = useQuery(quarantine(view));
    const counts = Object.entries(found.data?.counts ?? {}).sort(([, a], [, b]) => b - a);
    const columns: readonly Column<Rejected>[] = [
        timeColumn<Rejected>("Arrived", ({ arrived_at: at }) => at),
        {
            head: "Reason",
            isWide: true,
            cell: ({ code, message, path }) => (
                <>
                    <code>{code}</code>
                    <p>
                        <ShortName text={message} most={240} />
                    </p>
                    {path !== "" && (
                        <p className="hint">
                            at <ShortName text={path} most={120} />
                        </p>
                    )}
                </>
            ),
            csv: { code: ({ code }) => code, message: ({ message }) => message, path: ({ path }) => path },
        },
        nameColumn<Rejected>("Job", "job", ({ job }) =>
            job?.name === undefined ? undefined : { namespace: job.namespace ?? "", name: job.name },
        ),
        {
            head: "Sent by",
            cell: ({ principal, channel }) => <Name text={principal ?? channel} />,
            csv: { principal: ({ principal }) => principal, channel: ({ channel }) => channel },
        },
        {
            head: "Whole",
            cell: ({ event_id: id }) => <OpenToggle view={view} id={id} label={`Event ${id}`} />,
            csv: { event_id: ({ event_id: id }) => id },
        },
    ];
    return (
        <ListPage
            view={view}
            title="Quarantine"
            about={
                counts.length === 0
                    ? "Events that were rejected, with the reason; nothing of them is in the lineage."
                    : counts.map(([code, count]) => `${whole(count)} ${code}`).join(", ")
            }
            query={found}
            columns={columns}
            keyOf={({ event_id: id }) => id}
            fields={[{ key: "code", label: "Reason", words: wordsOf(counts, view.filters.code) }]}
            empty={{ title: "No event is in quarantine", text: "Every event that arrived was accepted." }}
            below={(row) => (row.event_id === view.open ? <Whole item={row} /> : undefined)}
        />
    );
}

/** The reasons to choose from, with the one that was chosen, also if there is no event with it any more. */
function wordsOf(counts: [string, number][], chosen: string | undefined): string[] {
    return [...new Set([...counts.map(([code]) => code), ...(chosen === undefined ? [] : [chosen])])];
}

function Whole({ item }: { item: Rejected }) {
    const path = { event_id: item.event_id };
    return (
        <>
            <Facts
                of={[
                    ["Event", item.event_id],
                    ["Producer", item.producer],
                    ["Bytes", whole(item.size)],
                ]}
            />
            <pre tabIndex={0}>{item.sample}</pre>
            <p className="tools">
                <ActionButton
                    label="All of it"
                    icon="download"
                    act={async () => {
                        const call = client.GET("/api/v1/quarantine/{event_id}/body", {
                            params: { path },
                            parseAs: "blob",
                        });
                        saveFile(`${item.event_id}.json`, (await answered<unknown>(call)) as Blob);
                    }}
                />
            </p>
            <Allowed scope="operate" what="Replaying an event">
                <ActionButton
                    label="Replay"
                    icon="clock"
                    act={(headers) =>
                        answered(client.POST("/api/v1/quarantine/{event_id}/retry", { params: { path }, headers }))
                    }
                    done={() => (
                        <p className="state good">
                            <Icon name="check" /> accepted: it is part of the lineage soon
                        </p>
                    )}
                />
            </Allowed>
        </>
    );
}
