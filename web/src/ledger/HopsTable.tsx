import { ViewLink } from "../address/history";
import { refOf } from "../address/nodes";
import { lineageOf } from "../address/view";
import type { Schemas } from "../api/client";
import { ago, ratio, whole } from "../format/text";
import { CopyButton } from "../parts/CopyButton";
import { Icon } from "../parts/Icon";
import { FullName, Name } from "../parts/Name";
import { State } from "../parts/State";
import { checkQuery } from "./checkQuery";

type Hop = Schemas["LedgerHopAnswer"];

interface HopsProps {
    hops: Hop[];
    changesOf: (hop: Hop) => string[];
    now: number;
}

/** The hops of a ledger, sources first, with the state of each job and what changed in the window. */
export function HopsTable({ hops, changesOf, now }: HopsProps) {
    return (
        <div className="table-frame" tabIndex={0} role="region" aria-label="Hops">
            <table className="ledger">
                <thead>
                    <tr>
                        <th scope="col">Job</th>
                        <th scope="col">From</th>
                        <th scope="col" className="number">
                            Rows read
                        </th>
                        <th scope="col">To</th>
                        <th scope="col" className="number">
                            Rows written
                        </th>
                        <th scope="col" className="number">
                            Out for each in
                        </th>
                        <th scope="col" className="number">
                            Baseline
                        </th>
                        <th scope="col">Check</th>
                    </tr>
                </thead>
                <tbody>
                    {hops.map((hop) => (
                        <tr
                            key={`${hop.source.id} ${hop.job.id} ${hop.target.id}`}
                            className={hop.diverged ? "diverged" : ""}
                        >
                            <th scope="row">
                                <NodeLink node={hop.job} />
                                {hop.state !== undefined && (
                                    <small>
                                        <State state={hop.state} />
                                        {hop.last_seen !== undefined && ` reported ${ago(hop.last_seen, now)}`}
                                    </small>
                                )}
                                {changesOf(hop).map((words) => (
                                    <small key={words}>
                                        <Icon name="clock" /> <Name text={words} />
                                    </small>
                                ))}
                                {hop.diverged && (
                                    <span className="state bad">
                                        <Icon name="warning" />
                                        first divergence
                                    </span>
                                )}
                            </th>
                            <td>
                                <NodeLink node={hop.source} />
                            </td>
                            <Amount side={hop.read} />
                            <td>
                                <NodeLink node={hop.target} />
                            </td>
                            <Amount side={hop.written} />
                            <td className="number strong">
                                {hop.ratio === undefined ? <Unmeasured /> : ratio(hop.ratio)}
                            </td>
                            <td className="number">
                                {hop.baseline_ratio === undefined ? <Unmeasured /> : ratio(hop.baseline_ratio)}
                            </td>
                            <td>
                                <CopyButton
                                    label={`Copy SQL that checks ${hop.target.name}`}
                                    text={() => checkQuery(hop.target.name)}
                                >
                                    SQL
                                </CopyButton>
                            </td>
                        </tr>
                    ))}
                </tbody>
            </table>
        </div>
    );
}

function Unmeasured() {
    return <span className="hint">not measured</span>;
}

function Amount({ side }: { side: Hop["read"] }) {
    const { window, baseline, change } = side;
    return (
        <td className="number">
            {window.rows !== undefined ? (
                whole(window.rows)
            ) : (
                <span
                    className="hint"
                    title="No run reported row counts here. Producers send them in the facets inputStatistics and outputStatistics."
                >
                    not measured
                </span>
            )}
            {window.rows !== undefined && (
                <small>before: {baseline.rows === undefined ? "none" : whole(baseline.rows)}</small>
            )}
            {change !== "unknown" && change !== "steady" && <State state={change} />}
        </td>
    );
}

function NodeLink({ node }: { node: Schemas["GraphNode"] }) {
    return (
        <ViewLink to={lineageOf(refOf(node))}>
            <FullName {...node} />
        </ViewLink>
    );
}
