import { useQuery } from "@tanstack/react-query";
import { useState } from "react";

import { ViewLink } from "../../address/history";
import type { NodeRef } from "../../address/view";
import { workOf } from "../../address/work";
import { eventsOfNode, type Sent } from "../../api/lists";
import { literal } from "../../format/glob";
import { moment, whole } from "../../format/text";
import { CopyButton } from "../../parts/CopyButton";
import { Answer, Empty } from "../../parts/Messages";
import { Name } from "../../parts/Name";
import { RunLink } from "../../work/runs/RunLink";
import { State } from "../../parts/State";
import { summaryOf } from "../../work/events/summary";

const PAGE = 10;

/** The events behind a node as they were sent, the newest first. */
export default function Events({ node }: { node: NodeRef }) {
    const [offset, setOffset] = useState(0);
    const { namespace, name } = node;
    return (
        <>
            <p className="hint">
                {node.kind === "job" ? (
                    <>
                        What this job sent.{" "}
                        <ViewLink to={workOf("events", { namespace: literal(namespace), job: literal(name) })}>
                            Its events in a list
                        </ViewLink>
                    </>
                ) : (
                    "Events that named this dataset: of each run and day, the first and the last."
                )}
            </p>
            <Answer query={useQuery(eventsOfNode(node, PAGE, offset))} kind={node.kind}>
                {({ items, hasNext }) => (
                    <>
                        {items.length === 0 && offset === 0 && <Empty title="No event named it" />}
                        {items.map((sent) => (
                            <Event key={sent.event_id} sent={sent} />
                        ))}
                        {(offset > 0 || hasNext) && (
                            <nav className="tools" aria-label="Pages of events">
                                <button type="button" disabled={offset === 0} onClick={() => setOffset(offset - PAGE)}>
                                    Newer
                                </button>
                                <span className="hint">
                                    {whole(offset + 1)} to {whole(offset + items.length)}
                                </span>
                                <button type="button" disabled={!hasNext} onClick={() => setOffset(offset + PAGE)}>
                                    Older
                                </button>
                            </nav>
                        )}
                    </>
                )}
            </Answer>
        </>
    );
}

function Event({ sent }: { sent: Sent }) {
    const { time, type, job, run } = summaryOf(sent.event);
    const text = JSON.stringify(sent.event, null, 2);
    return (
        <details className="event">
            <summary>
                <State state={type} /> <time dateTime={time}>{moment(time)}</time>
            </summary>
            <p>
                {job && <Name text={job.name} />} {run !== "" && <RunLink id={run} />}
            </p>
            <p className="tools">
                <CopyButton label="Copy the event" text={() => text}>
                    Copy
                </CopyButton>
                <span className="hint">
                    <code>{sent.event_id.slice(0, 12)}</code>, by {sent.channel}
                </span>
            </p>
            <pre tabIndex={0}>{text}</pre>
        </details>
    );
}
