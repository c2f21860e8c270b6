import { useQuery } from "@tanstack/react-query";

import { ViewLink } from "../../address/history";
import { workOf, type WorkView } from "../../address/work";
import { answered, client } from "../../api/client";
import { task, tasks, type Task as Item } from "../../api/lists";
import { between, counted, whole } from "../../format/text";
import { ActionButton, Allowed } from "../../parts/ActionButton";
import { Facts } from "../../parts/Facts";
import { Answer } from "../../parts/Messages";
import { Name } from "../../parts/Name";
import { State } from "../../parts/State";
import { Table, type Column } from "../../parts/Table";
import { Time, timeColumn } from "../columns";
import { ListPage } from "../ListPage";

const COLUMNS: readonly Column<Item>[] = [
    {
        head: "Task",
        cell: ({ task_id: id, task_type: type }) => (
            <ViewLink to={workOf("tasks", {}, id)} title={id}>
                {type} <code>{id.slice(0, 8)}</code>
            </ViewLink>
        ),
        csv: { task_id: ({ task_id: id }) => id, task_type: ({ task_type: type }) => type },
    },
    { head: "State", cell: (item) => <State state={stateOf(item)} />, csv: { status: ({ status }) => status } },
    { head: "Source", cell: ({ source }) => <Name text={source} />, csv: { source: ({ source }) => source } },
    timeColumn("Created", ({ created_at: at }) => at),
    { head: "Progress", cell: (item) => <Progress task={item} /> },
    { head: "Events", isNumber: true, cell: ({ events }) => whole(events), csv: { events: ({ events }) => events } },
];

const PLANES: readonly Column<Item["planes"][number]>[] = [
    { head: "Plane", cell: ({ plane }) => plane },
    { head: "Scope", isWide: true, cell: ({ scope }) => <Name text={scope} /> },
    { head: "State", cell: ({ state }) => <State state={state} /> },
    { head: "Events", isNumber: true, cell: ({ events }) => whole(events) },
    { head: "Requests", isNumber: true, cell: ({ requests }) => whole(requests) },
    {
        head: "Why",
        isWide: true,
        cell: ({ why, hints }) => [...why, ...hints].map((text) => <Name key={text} text={text} />),
    },
];

function stateOf({ status, cancelled }: Item): string {
    return cancelled ? "cancelled" : status;
}

/** How many of its planes a task is done with. */
function Progress({ task: { planes, status, progress } }: { task: Item }) {
    const done = planes.filter(({ state }) => state !== "asked").length;
    if (planes.length === 0) return <span className="hint">{progress.at(-1) ?? "—"}</span>;
    return (
        <label className="progress">
            {status === "running" && <progress value={done} max={planes.length} />}
            {whole(done)} of {counted(planes.length, "plane")}
        </label>
    );
}

/** Extractions of whole organizations. */
export function Tasks({ view }: { view: WorkView }) {
    return (
        <ListPage
            view={view}
            title="Tasks"
            about="Extractions: each reads a whole organization of Confluent Cloud once."
            query={useQuery(tasks(view))}
            columns={COLUMNS}
            keyOf={({ task_id: id }) => id}
            fields={[{ key: "status", label: "State", words: ["pending", "running", "completed", "failed"] }]}
            actions={
                <Allowed scope="operate" what="Starting an extraction">
                    <ActionButton
                        label="Start an extraction"
                        act={(headers) => answered(client.POST("/api/v1/tasks/extract", { headers }))}
                        done={({ task_id: id }) => (
                            <ViewLink to={workOf("tasks", {}, id)}>The task has been started</ViewLink>
                        )}
                    />
                </Allowed>
            }
            empty={{ title: "Nothing has been extracted yet" }}
        />
    );
}

export function Task({ id }: { id: string }) {
    return (
        <>
            <h1>
                Task <code>{id}</code>
            </h1>
            <Answer query={useQuery(task(id))}>
                {(item) => (
                    <>
                        <p className="tools" role="status">
                            <State state={stateOf(item)} />
                            <Progress task={item} />
                        </p>
                        {item.error !== null && (
                            <div className="notice bad">
                                <div>
                                    <strong>
                                        <Name text={item.error} />
                                    </strong>
                                    <p>
                                        <Name text={item.hint} />
                                    </p>
                                </div>
                            </div>
                        )}
                        <Allowed scope="operate" what="Cancelling and resuming a task">
                            {!item.completed_at && (
                                <TaskAction
                                    id={id}
                                    action="cancel"
                                    label="Cancel"
                                    question="It stops between two calls. Its events stay, and it can be resumed."
                                />
                            )}
                            {item.resumable && <TaskAction id={id} action="resume" label="Resume" />}
                        </Allowed>
                        <Facts
                            of={[
                                ["Source", item.source],
                                ["Created", <Time key="c" at={item.created_at} />],
                                ["Started", item.started_at && <Time at={item.started_at} />],
                                ["Ended", item.completed_at && <Time at={item.completed_at} />],
                                [
                                    "Took",
                                    item.started_at && item.completed_at && between(item.started_at, item.completed_at),
                                ],
                                ["Events", whole(item.events)],
                                ["Nodes", item.result && whole(item.result.node_count)],
                                ["Edges", item.result && whole(item.result.edge_count)],
                                ["Could not be read", item.unknown.length > 0 && counted(item.unknown.length, "plane")],
                            ]}
                        />
                        {item.planes.length > 0 && (
                            <>
                                <h2>Planes</h2>
                                <Table
                                    label="Planes"
                                    columns={PLANES}
                                    rows={item.planes}
                                    keyOf={({ plane, scope }) => `${plane} ${scope}`}
                                />
                            </>
                        )}
                        {item.progress.length > 0 && (
                            <details>
                                <summary>Progress, line by line</summary>
                                <pre tabIndex={0}>{item.progress.join("\n")}</pre>
                            </details>
                        )}
                    </>
                )}
            </Answer>
        </>
    );
}

/** Does something to a task. */
function TaskAction(props: { id: string; action: "cancel" | "resume"; label: string; question?: string }) {
    const { id, action, ...button } = props;
    return (
        <ActionButton
            {...button}
            act={(headers) =>
                answered(
                    client.POST(`/api/v1/tasks/{task_id}/${action}`, { params: { path: { task_id: id } }, headers }),
                )
            }
        />
    );
}
