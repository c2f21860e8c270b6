import { useQuery } from "@tanstack/react-query";
import { useCallback } from "react";

import { show, ViewLink } from "../address/history";
import { refOf } from "../address/nodes";
import { lineageOf, traceOf, type TraceView } from "../address/view";
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
import { keptOf } from "./kept";
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
                <ViewLink className="button" to={lineageOf(view.dataset)}>
                    <Icon name="graph" />
                    Graph
                </ViewLink>
                {found.data && <CsvButton name="trace" rows={() => csvRows(found.data)} />}
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
                        {answer.flows.length === 0 ? (
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

function Flows({ answer, direction }: { answer: Trace; direction: TraceView["direction"] }) {
    const nodes = new Map(answer.nodes.map((node) => [node.id, node]));
    const distances = new Map(
        answer.columns.flatMap(({ node, field, distance }) =>
            distance === undefined ? [] : [[`${node} ${field}`, distance] as const],
        ),
    );
    // A column where the trace ended has no distance of its own: it is one hop from the other end.
    const far = (flow: Schemas["TraceFlow"]) => {
        const ends = [
            distances.get(`${flow.source} ${flow.source_field}`),
            distances.get(`${flow.target} ${flow.target_field}`),
        ];
        const known = ends.filter((distance) => distance !== undefined);
        return known.length === 1 ? (known[0] ?? 0) + 1 : Math.max(0, ...known);
    };
    const flows = [...answer.flows].sort((a, b) => far(a) - far(b));
    const column = (id: string, field: string) => {
        const node = nodes.get(id);
        if (!node) return null;
        const ref = refOf(node);
        return (
            <>
                <ViewLink to={field === "" ? lineageOf(ref) : traceOf(ref, field, direction)}>
                    <b>
                        <Name text={field === "" ? "(all of it)" : field} />
                    </b>
                </ViewLink>
                <FullName {...node} />
            </>
        );
    };
    const kept = keptOf(answer);
    const end = direction === "upstream" ? "that it comes from" : "that it goes to";
    const keptAt = (flow: Schemas["TraceFlow"]) => kept(direction === "upstream" ? flow.source : flow.target);
    return (
        <div className="table-frame" tabIndex={0} role="region" aria-label="Flows">
            <table className="trace">
                <thead>
                    <tr>
                        <th scope="col" className="number">
                            Hop
                        </th>
                        <th scope="col">From</th>
                        <th scope="col">To</th>
                        <th scope="col" title={`Who owns the dataset ${end}`}>
                            Owner
                        </th>
                        <th scope="col" title={`How long the dataset ${end} keeps it`}>
                            Kept
                        </th>
                        <th scope="col">Transformation</th>
                        <th scope="col">Job</th>
                        <th scope="col">Proof</th>
                    </tr>
                </thead>
                <tbody>
                    {flows.map((flow) => (
                        <tr
                            key={`${flow.source} ${flow.source_field} ${flow.target} ${flow.target_field} ${flow.job}`}
                            className={flow.indirect ? "indirect" : ""}
                        >
                            <td className="number">{far(flow)}</td>
                            <td>{column(flow.source, flow.source_field)}</td>
                            <td>{column(flow.target, flow.target_field)}</td>
                            <td>
                                <Name text={keptAt(flow)?.owner ?? "—"} />
                            </td>
                            <td>
                                <Name text={keptAt(flow)?.retention ?? "—"} />
                            </td>
                            <td>
                                {flow.transformations
                                    .map(({ type, subtype }) => [type, subtype].filter(Boolean).join(" ").toLowerCase())
                                    .join("; ") || "not stated"}
                                {flow.masked && (
                                    <span className="state good">
                                        <Icon name="shield" />
                                        masked
                                    </span>
                                )}
                                {flow.descriptions?.map((description) => (
                                    <p key={description} className="hint">
                                        <Name text={description} />
                                    </p>
                                ))}
                            </td>
                            <td>
                                <Name text={nodes.get(flow.job)?.name ?? ""} />
                                <span className="hint"> {flow.origin}</span>
                            </td>
                            <td>
                                {flow.proof && (
                                    <>
                                        <code title={flow.proof.event_id}>{flow.proof.event_id.slice(0, 12)}</code>
                                        <span className="hint">{moment(flow.proof.event_time)}</span>
                                    </>
                                )}
                            </td>
                        </tr>
                    ))}
                </tbody>
            </table>
        </div>
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

const KEPT_HEAD = ["source_owner", "source_retention", "target_owner", "target_retention"];

function csvRows(answer: Trace): (string | number | undefined)[][] {
    const nodes = new Map(answer.nodes.map((node) => [node.id, node]));
    const name = (id: string) => [nodes.get(id)?.namespace ?? "", nodes.get(id)?.name ?? ""];
    const kept = keptOf(answer);
    const head = [
        "source_namespace",
        "source",
        "source_column",
        "target_namespace",
        "target",
        "target_column",
        "transformations",
        "masked",
    ];
    return [
        [...head, "indirect", "job_namespace", "job", "origin", "event_id", "event_time", ...KEPT_HEAD],
        ...answer.flows.map((flow) => [
            ...[...name(flow.source), flow.source_field, ...name(flow.target), flow.target_field],
            flow.transformations.map(({ type, subtype }) => `${type} ${subtype}`.trim()).join("; "),
            ...[flow.masked ? "yes" : "", flow.indirect ? "yes" : "", ...name(flow.job), flow.origin],
            ...[flow.proof?.event_id, flow.proof?.event_time],
            ...[flow.source, flow.target].flatMap((id) => [kept(id)?.owner, kept(id)?.retention]),
        ]),
    ];
}

/** The time now to the second: what was reported until then is known. */
function now(): string {
    return new Date().toISOString().replace(/\.\d+Z$/, "Z");
}
