import { useQuery } from "@tanstack/react-query";

import { ViewLink } from "../../address/history";
import { workOf, type WorkView } from "../../address/work";
import { answered, client } from "../../api/client";
import { source, sources, type Source as Item } from "../../api/lists";
import { duration, whole } from "../../format/text";
import { ActionButton } from "../../parts/ActionButton";
import { Facts, Settings } from "../../parts/Facts";
import { Answer, Empty } from "../../parts/Messages";
import { Name, ShortName } from "../../parts/Name";
import { State } from "../../parts/State";
import { Table, type Column } from "../../parts/Table";
import { Time, timeColumn } from "../columns";
import { ListPage } from "../ListPage";
import { AddSystem } from "./AddSystem";
import { LastError } from "./Checks";
import { Upkeep } from "./Upkeep";

const COLUMNS: readonly Column<Item>[] = [
    {
        head: "Source",
        cell: ({ name }) => (
            <ViewLink to={workOf("sources", {}, name)}>
                <Name text={name} />
            </ViewLink>
        ),
        csv: { name: ({ name }) => name },
    },
    { head: "Kind", cell: ({ kind }) => kind, csv: { kind: ({ kind }) => kind } },
    { head: "State", cell: ({ state }) => <State state={state} />, csv: { state: ({ state }) => state } },
    timeColumn("Last success", ({ last_success_at: at }) => at),
    { head: "Polls", isNumber: true, cell: ({ polls }) => whole(polls), csv: { polls: ({ polls }) => polls } },
    { head: "Events", isNumber: true, cell: ({ events }) => whole(events), csv: { events: ({ events }) => events } },
    {
        head: "What is missing",
        isWide: true,
        cell: ({ last_error: error, unseen }) => (
            <ShortName text={(error?.message ?? unseen.map(({ what }) => what).join(", ")) || "—"} most={160} />
        ),
        csv: {
            missing: ({ last_error: error, unseen }) => error?.message ?? unseen.map(({ what }) => what).join(", "),
        },
    },
];

/** Systems that are observed from outside. */
export function Sources({ view }: { view: WorkView }) {
    return (
        <ListPage
            view={view}
            title="Sources"
            about="Systems that are observed from outside, without installing anything in them."
            query={useQuery(sources(view.offset))}
            columns={COLUMNS}
            keyOf={({ name }) => name}
            actions={<AddSystem list="sources" />}
            empty={{
                title: "No system is observed yet",
                text: <code>lineage-bridge source add broker kafka bootstrap_servers=localhost:9092</code>,
            }}
        />
    );
}

export function Source({ name }: { name: string }) {
    const path = { name };
    return (
        <>
            <h1>
                Source <Name text={name} />
            </h1>
            <Answer query={useQuery(source(name))}>
                {(item) => (
                    <>
                        <p className="tools">
                            <State state={item.state} />
                        </p>
                        <LastError error={item.last_error} />
                        <Upkeep
                            list="sources"
                            name={name}
                            state={item.state}
                            afterwards="What it saw stays in the lineage."
                        >
                            <ActionButton
                                label="Poll now"
                                act={(headers) =>
                                    answered(client.POST("/api/v1/sources/{name}/poll", { params: { path }, headers }))
                                }
                                isDisabled={item.state === "paused"}
                            />
                        </Upkeep>
                        <Facts
                            of={[
                                ["Kind", item.kind],
                                ["Set in", item.origin],
                                ["Last poll", item.last_poll_at && <Time at={item.last_poll_at} />],
                                ["Took", item.took_s !== undefined && duration(item.took_s)],
                                ["Last success", item.last_success_at && <Time at={item.last_success_at} />],
                                ["Failing since", item.failing_since && <Time at={item.failing_since} />],
                                ["Next poll", item.next_poll_at && <Time at={item.next_poll_at} />],
                                ["Polls", whole(item.polls)],
                                ["Events", whole(item.events)],
                            ]}
                        />
                        <h2>What it does not see</h2>
                        {item.unseen.length === 0 ? (
                            <Empty title="It sees everything that it looks for" />
                        ) : (
                            <Table
                                label="What it does not see"
                                columns={UNSEEN}
                                rows={item.unseen}
                                keyOf={({ what, since }) => `${what} ${since}`}
                            />
                        )}
                        <h2>Settings</h2>
                        <Settings settings={item.settings} />
                    </>
                )}
            </Answer>
        </>
    );
}

const UNSEEN: readonly Column<Item["unseen"][number]>[] = [
    { head: "What", isWide: true, cell: ({ what }) => <Name text={what} /> },
    { head: "Why", isWide: true, cell: ({ why }) => <Name text={why} /> },
    timeColumn("Since", ({ since }) => since),
];
