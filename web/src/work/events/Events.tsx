import { useQuery } from "@tanstack/react-query";
import { useState } from "react";

import { ViewLink } from "../../address/history";
import { workOf, type WorkView } from "../../address/work";
import { events, type Sent } from "../../api/lists";
import { CopyButton } from "../../parts/CopyButton";
import { Icon } from "../../parts/Icon";
import { Name } from "../../parts/Name";
import { RunLink } from "../runs/RunLink";
import { State } from "../../parts/State";
import type { Column } from "../../parts/Table";
import { nameColumn, Time, timeColumn } from "../columns";
import { ListPage } from "../ListPage";
import { OpenToggle } from "../OpenToggle";
import { summaryOf } from "./summary";

const FIELDS = [
    { key: "namespace", label: "Namespace of the job", hint: "kafka://*" },
    { key: "job", label: "Job", hint: "*orders*" },
    { key: "since", label: "Since", hint: "2026-05-01T00:00:00Z" },
    { key: "until", label: "Until", hint: "2026-05-02T00:00:00Z" },
];

/** Events as they arrived, the newest first; the first page follows what arrives. */
export function Events({ view }: { view: WorkView }) {
    const { run } = view.filters;
    const [isHeld, setHeld] = useState(false);
    const found = useQuery({ ...events(view), ...(isHeld ? { refetchInterval: false as const } : {}) });
    const columns: readonly Column<Sent>[] = [
        timeColumn<Sent>("Time", ({ event }) => summaryOf(event).time),
        {
            head: "Event",
            cell: ({ event }) => <State state={summaryOf(event).type} />,
            csv: { type: ({ event }) => summaryOf(event).type, event_id: ({ event_id: id }) => id },
        },
        nameColumn<Sent>("Job", "job", ({ event }) => summaryOf(event).job),
        {
            head: "Run",
            cell: ({ event }) => (summaryOf(event).run === "" ? "—" : <RunLink id={summaryOf(event).run} />),
            csv: { run_id: ({ event }) => summaryOf(event).run },
        },
        { head: "Reads", isNumber: true, cell: ({ event }) => summaryOf(event).inputs },
        { head: "Writes", isNumber: true, cell: ({ event }) => summaryOf(event).outputs },
        {
            head: "Came by",
            cell: ({ channel, principal }) => (
                <>
                    {channel}
                    {principal !== undefined && (
                        <p className="hint">
                            <Name text={principal} />
                        </p>
                    )}
                </>
            ),
            csv: { channel: ({ channel }) => channel, principal: ({ principal }) => principal },
        },
        {
            head: "Whole",
            cell: ({ event_id: id }) => <OpenToggle view={view} id={id} label={`Event ${id}`} />,
        },
    ];
    return (
        <ListPage
            view={view}
            title={run === undefined ? "Events" : "Events of a run"}
            about={
                run === undefined ? (
                    "As they were sent, with known secrets masked; the newest first."
                ) : (
                    <>
                        The oldest first; the run is <RunLink id={run} />.{" "}
                        <ViewLink to={workOf("events")}>All events</ViewLink>
                    </>
                )
            }
            query={found}
            columns={columns}
            keyOf={({ event_id: id }) => id}
            fields={run === undefined ? FIELDS : []}
            actions={
                run === undefined &&
                view.offset === 0 && (
                    <p className="tools">
                        <button type="button" aria-pressed={isHeld} onClick={() => setHeld(!isHeld)}>
                            <Icon name={isHeld ? "stream" : "pause"} />
                            {isHeld ? "Follow again" : "Hold"}
                        </button>
                        <span className="hint">
                            {isHeld ? "What arrives is not shown." : "What arrives is shown within seconds."}
                        </span>
                    </p>
                )
            }
            empty={{ title: "No event has arrived yet" }}
            below={(row) => (row.event_id === view.open ? <Whole sent={row} /> : undefined)}
        />
    );
}

function Whole({ sent }: { sent: Sent }) {
    const text = JSON.stringify(sent.event, null, 2);
    return (
        <>
            <p className="tools">
                <CopyButton label="Copy the event" text={() => text}>
                    Copy
                </CopyButton>
                <span className="hint">
                    <code>{sent.event_id}</code>, arrived <Time at={sent.arrived_at} />
                </span>
            </p>
            <pre tabIndex={0}>{text}</pre>
        </>
    );
}
