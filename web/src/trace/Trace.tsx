import { useQuery } from "@tanstack/react-query";
import { useCallback } from "react";

import { show, ViewLink } from "../address/history";
import { lineageOf, type TraceView } from "../address/view";
import type { Schemas } from "../api/client";
import { trace } from "../api/questions";
import { moment, whole } from "../format/text";
import { CopyNote } from "../note/CopyNote";
import { CopyButton } from "../parts/CopyButton";
import { CsvButton } from "../parts/CsvButton";
import { DirectionSwitch } from "../parts/DirectionSwitch";
import { Icon } from "../parts/Icon";
import { Answer, Empty } from "../parts/Messages";
import { FullName, Name } from "../parts/Name";
import { Flows } from "./Flows";
import { flowRows } from "./flowRows";
import { heldRows } from "./held";
import { HeldTable } from "./HeldTable";
import { doubts, report } from "./report";
import { traceNote } from "./traceNote";

type Trace = Schemas["TraceAnswer"];

/** Where the values of a column come from, or go: each step with its transformation and its proof; and what is not known. */
export default function TraceOfColumn({ view }: { view: TraceView }) {
    const found = useQuery(trace(view));
    const content = useCallback(() => traceNote(view, found.data as Trace), [view, found.data]);
    const isUp = view.direction === "upstream";
    const change = (part: Partial<TraceView>) => show({ ...view, ...part });
    return (
        <div className="column wide">
            <h1>
                {isUp ? "Where " : "Where to: "}
                <Name text={view.field === "" ? "every column" : view.field} />
                {isUp && " comes from"}
                <small>
                    <FullName {...view.dataset} />
                </small>
            </h1>
            <div className="tools">
                <DirectionSwitch
                    direction={view.direction}
                    words={{ upstream: "comes from", downstream: "goes to" }}
                    choose={(direction) => change({ direction })}
                />
                <label className="check">
                    <input
                        type="checkbox"
                        checked={view.indirect}
                        onChange={(event) => change({ indirect: event.target.checked })}
                    />
                    filters and join keys, too
                </label>
                <label className="check">
                    <input
                        type="checkbox"
                        checked={view.masked}
                        onChange={(event) => change({ masked: event.target.checked })}
                    />
                    continue behind masking
                </label>
                <button
                    type="button"
                    aria-pressed={view.at !== ""}
                    onClick={() => change({ at: view.at === "" ? now() : "" })}
                    title="Keep the time in the address, so that others see the same"
                >
                    <Icon name="pause" />
                    {view.at === "" ? "Pin the time" : `As of ${moment(view.at)}`}
                </button>
                <button
                    type="button"
                    aria-pressed={view.held}
                    onClick={() => change({ held: !view.held })}
                    title="Only the datasets that hold the value unmasked, as for a request to delete it"
                >
                    <Icon name="filter" />
                    {view.at === "" ? "Where it is now" : "Where it was"}
                </button>
                <ViewLink className="button" to={lineageOf(view.dataset)}>
                    <Icon name="graph" />
                    Graph
                </ViewLink>
                {found.data && (
                    <CsvButton
                        name={view.held ? "trace-held" : "trace"}
                        rows={() => (view.held ? heldRows(found.data) : flowRows(found.data))}
                    />
                )}
                {found.data && (
                    <CopyButton
                        label={view.at === "" ? "Pin the time to copy it as a report" : "Copy as a report in Markdown"}
                        disabled={view.at === ""}
                        text={() => report(view, found.data, window.location.href)}
                    >
                        Report
                    </CopyButton>
                )}
                {found.data && <CopyNote content={content} />}
            </div>
            <Answer query={found}>
                {(answer) => (
                    <>
                        <Coverage answer={answer} />
                        {view.held ? (
                            <HeldTable answer={answer} />
                        ) : answer.flows.length === 0 ? (
                            <Empty
                                title={
                                    isUp ? "No column is known to go into it" : "It is not known to go into any column"
                                }
                            />
                        ) : (
                            <Flows answer={answer} direction={view.direction} />
                        )}
                        <Gaps answer={answer} />
                    </>
                )}
            </Answer>
        </div>
    );
}

function Coverage({ answer }: { answer: Trace }) {
    const { told, untold } = answer.coverage;
    return (
        <p className={untold > 0 ? "notice warn" : "notice good"} role="status">
            <Icon name={untold > 0 ? "warning" : "check"} />
            {whole(told)} of {whole(told + untold)} flows on the way have column evidence.
            {untold > 0 && " The column may have passed through the others, too: they are below."}
            {answer.truncated !== "" && ` The limit of ${answer.truncated} ended the search.`}
            {doubts(answer).map((doubt) => ` ${doubt}`)}
            <span className="digest" title={`SHA-256 of this answer, by names: ${answer.digest}`}>
                Digest <code>{answer.digest.slice(0, 12)}</code>
            </span>
        </p>
    );
}

function Gaps({ answer }: { answer: Trace }) {
    const nodes = new Map(answer.nodes.map((node) => [node.id, node]));
    const { gaps } = answer.coverage;
    if (gaps.length === 0) return null;
    return (
        <section aria-labelledby="gaps">
            <h2 id="gaps">Flows without column evidence</h2>
            <ul className="plain rows">
                {gaps.map((gap) => (
                    <li key={`${gap.source} ${gap.target} ${gap.job}`}>
                        <Name text={nodes.get(gap.source)?.name ?? ""} /> <Icon name="downstream" />{" "}
                        <Name text={nodes.get(gap.target)?.name ?? ""} />
                        <span className="hint">
                            through <Name text={nodes.get(gap.job)?.name ?? ""} />, {gap.origin}, {gap.evidence}
                        </span>
                    </li>
                ))}
            </ul>
        </section>
    );
}

/** The time now to the second: what was reported until then is known. */
function now(): string {
    return new Date().toISOString().replace(/\.\d+Z$/, "Z");
}
