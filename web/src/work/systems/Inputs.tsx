import { useQuery } from "@tanstack/react-query";

import { ViewLink } from "../../address/history";
import { workOf, type WorkView } from "../../address/work";
import { input, inputs, type Input as Item } from "../../api/lists";
import { duration, whole } from "../../format/text";
import { Facts, Settings } from "../../parts/Facts";
import { Answer } from "../../parts/Messages";
import { Name, ShortName } from "../../parts/Name";
import { State } from "../../parts/State";
import type { Column } from "../../parts/Table";
import { Time } from "../columns";
import { ListPage } from "../ListPage";
import { AddSystem } from "./AddSystem";
import { LastError } from "./Checks";
import { Upkeep } from "./Upkeep";

const COLUMNS: readonly Column<Item>[] = [
    {
        head: "Input",
        cell: ({ name }) => (
            <ViewLink to={workOf("inputs", {}, name)}>
                <Name text={name} />
            </ViewLink>
        ),
        csv: { name: ({ name }) => name },
    },
    { head: "Kind", cell: ({ kind }) => kind, csv: { kind: ({ kind }) => kind } },
    { head: "State", cell: ({ state }) => <State state={state} />, csv: { state: ({ state }) => state } },
    {
        head: "Accepted",
        isNumber: true,
        cell: ({ accepted }) => whole(accepted),
        csv: { accepted: ({ accepted }) => accepted },
    },
    {
        head: "Rejected",
        isNumber: true,
        cell: (item) => whole(rejected(item)),
        csv: { rejected },
    },
    {
        head: "Per second",
        isNumber: true,
        cell: ({ records_per_s: rate }) => rate.toFixed(1),
        csv: { records_per_s: ({ records_per_s: rate }) => rate },
    },
    { head: "Behind", cell: (item) => behind(item) || "—", csv: { lag_records: (item) => item.lag_records } },
    {
        head: "Problem",
        isWide: true,
        cell: ({ last_error: error, problems }) => <ShortName text={error?.message ?? problems[0] ?? "—"} most={160} />,
        csv: { problem: ({ last_error: error, problems }) => error?.message ?? problems[0] },
    },
];

function rejected(item: Item): number {
    return Object.values(item.rejected).reduce((sum, count) => sum + count, 0);
}

/** How far an input is behind what it reads; empty if that is not known. */
function behind({ lag_records: records, lag_s: seconds, lag_files: files }: Item): string {
    return [
        records !== undefined && `${whole(records)} records`,
        files !== undefined && `${whole(files)} files`,
        seconds !== undefined && duration(seconds),
    ]
        .filter((words) => words !== false)
        .join(", ");
}

/** Ways in besides HTTP. */
export function Inputs({ view }: { view: WorkView }) {
    return (
        <ListPage
            view={view}
            title="Inputs"
            about="Ways in besides HTTP: topics, streams and files that events are read from."
            query={useQuery(inputs(view.offset))}
            columns={COLUMNS}
            keyOf={({ name }) => name}
            actions={<AddSystem list="inputs" />}
            empty={{
                title: "Events come by HTTP alone",
                text: <code>lineage-bridge input add NAME kafka bootstrap_servers=localhost:9092 topics=lineage</code>,
            }}
        />
    );
}

export function Input({ name }: { name: string }) {
    return (
        <>
            <h1>
                Input <Name text={name} />
            </h1>
            <Answer query={useQuery(input(name))}>
                {(item) => (
                    <>
                        <p className="tools">
                            <State state={item.state} />
                        </p>
                        <LastError error={item.last_error} />
                        {item.problems.map((problem) => (
                            <p key={problem} className="notice warn">
                                <Name text={problem} />
                            </p>
                        ))}
                        <Upkeep
                            list="inputs"
                            name={name}
                            state={item.state}
                            afterwards="Its events stay; an input of the same name goes on where it ended."
                        />
                        <Facts
                            of={[
                                ["Kind", item.kind],
                                ["Set in", item.origin],
                                ["Since", item.since && <Time at={item.since} />],
                                ["Accepted", whole(item.accepted)],
                                ...Object.entries(item.rejected).map(
                                    ([code, count]) => [`Rejected: ${code}`, whole(count)] as const,
                                ),
                                ["Passed over", item.skipped > 0 && whole(item.skipped)],
                                ["Left out by jobs", item.filtered > 0 && whole(item.filtered)],
                                ["Lost", item.lost > 0 && whole(item.lost)],
                                ["Partitions", whole(item.partitions)],
                                ["Behind", behind(item)],
                                ["Last record", item.last_record && <Place at={item.last_record} />],
                            ]}
                        />
                        <h2>Settings</h2>
                        <Settings settings={item.settings} />
                    </>
                )}
            </Answer>
        </>
    );
}

function Place({ at }: { at: NonNullable<Item["last_record"]> }) {
    return (
        <>
            <Name text={`${at.stream}, partition ${at.partition}, offset ${at.offset}`} />
            <p className="hint">
                taken in <Time at={at.taken_in_at} />
            </p>
        </>
    );
}
