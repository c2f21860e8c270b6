import { ViewLink } from "../address/history";
import { refOf } from "../address/nodes";
import { lineageOf } from "../address/view";
import { traceOf, type TraceView } from "../address/trace";
import type { Schemas } from "../api/client";
import { moment } from "../format/text";
import { Icon } from "../parts/Icon";
import { FullName, Name } from "../parts/Name";
import { keptOf } from "./kept";

type Trace = Schemas["TraceAnswer"];

/** The steps of a trace, the nearest first. */
export function Flows({ answer, direction }: { answer: Trace; direction: TraceView["direction"] }) {
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
