import { useQuery } from "@tanstack/react-query";
import { useCallback } from "react";

import { show, ViewLink } from "../address/history";
import { lineageOf } from "../address/view";
import type { TraceView } from "../address/trace";
import type { Schemas } from "../api/client";
import { trace } from "../api/questions";
import { moment } from "../format/text";
import { CopyNote } from "../note/CopyNote";
import { CopyButton } from "../parts/CopyButton";
import { CsvButton } from "../parts/CsvButton";
import { DirectionSwitch } from "../parts/DirectionSwitch";
import { Icon, type IconName } from "../parts/Icon";
import { Answer, Empty } from "../parts/Messages";
import { FullName, Name } from "../parts/Name";
import { accessRows } from "./access";
import { AccessTable } from "./AccessTable";
import { coverageWords } from "./coverage";
import { Flows } from "./Flows";
import { flowRows } from "./flowRows";
import { Gaps } from "./Gaps";
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
                <label className="check" title="Columns of the same name behind flows without column evidence">
                    <input
                        type="checkbox"
                        checked={view.suggestions}
                        onChange={(event) => change({ suggestions: event.target.checked })}
                    />
                    suggest columns by name
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
                    onClick={() => change({ held: !view.held, access: false })}
                    title="Only the datasets that hold the value unmasked, as for a request to delete it"
                >
                    <Icon name="filter" />
                    {view.at === "" ? "Where it is now" : "Where it was"}
                </button>
                <button
                    type="button"
                    aria-pressed={view.access}
                    onClick={() => change({ access: !view.access, held: false })}
                    title="Who may read and write each dataset, and which jobs do"
                >
                    <Icon name="shield" />
                    {view.at === "" ? "Who can see it" : "Who could see it"}
                </button>
                <ViewLink className="button" to={lineageOf(view.dataset)}>
                    <Icon name="graph" />
                    Graph
                </ViewLink>
                {found.data && (
                    <CsvButton
                        name={view.access ? "trace-access" : view.held ? "trace-held" : "trace"}
                        rows={() => rowsOf(view, found.data)}
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
                        <Coverage answer={answer} direction={view.direction} />
                        {view.access ? (
                            <AccessTable answer={answer} />
                        ) : view.held ? (
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
                        <Gaps answer={answer} direction={view.direction} />
                    </>
                )}
            </Answer>
        </div>
    );
}

/** What is shown, as rows of a file. */
function rowsOf(view: TraceView, answer: Trace) {
    if (view.access) return accessRows(answer);
    return view.held ? heldRows(answer) : flowRows(answer);
}

/** How sure the answer is. Where there is no flow at all, it is neither good nor bad. */
function Coverage({ answer, direction }: { answer: Trace; direction: TraceView["direction"] }) {
    const { told, untold } = answer.coverage;
    const [state, icon] = stateOf(told, untold);
    return (
        <p className={`notice ${state}`} role="status">
            <Icon name={icon} />
            {coverageWords(answer, direction)}.
            {untold > 0 && " The column may have passed through the others, too: they are below."}
            {answer.truncated !== "" && ` The limit of ${answer.truncated} ended the search.`}
            {doubts(answer).map((doubt) => ` ${doubt}`)}
            <span className="digest" title={`SHA-256 of this answer, by names: ${answer.digest}`}>
                Digest <code>{answer.digest.slice(0, 12)}</code>
            </span>
        </p>
    );
}

function stateOf(told: number, untold: number): [string, IconName] {
    if (untold > 0) return ["warn", "warning"];
    return told > 0 ? ["good", "check"] : ["quiet", "dot"];
}

/** The time now to the second: what was reported until then is known. */
function now(): string {
    return new Date().toISOString().replace(/\.\d+Z$/, "Z");
}
