import { ViewLink } from "../address/history";
import { refOf } from "../address/nodes";
import { lineageOf } from "../address/view";
import type { Schemas } from "../api/client";
import { ago, moment, ratio, whole } from "../format/text";
import { drainWords, stuckWords } from "../lineage/pulse/lag";
import { ConsoleLink } from "./ConsoleLink";
import { CopyButton } from "../parts/CopyButton";
import { Icon } from "../parts/Icon";
import { FullName, Name } from "../parts/Name";
import { State } from "../parts/State";
import { checkQuery } from "./checkQuery";
import { collectorName, collectorWords } from "./rows";

type Hop = Schemas["LedgerHopAnswer"];

interface HopsProps {
    hops: Hop[];
    changesOf: (hop: Hop) => string[];
    now: number;
}

/** The hops of a ledger, sources first, with the state of each job and what changed in the window. */
export function HopsTable({ hops, changesOf, now }: HopsProps) {
    const hasLag = hops.some((hop) => hop.lag !== undefined || hop.lag_collector !== undefined);
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
                        {hasLag && (
                            <th scope="col" className="number">
                                Unread
                            </th>
                        )}
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
                                <NodeCell node={hop.job} consoles={hop.consoles} />
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
                                <NodeCell node={hop.source} consoles={hop.consoles} />
                            </td>
                            <Amount side={hop.read} />
                            {hasLag && <Unread lag={hop.lag} collector={hop.lag_collector} />}
                            <td>
                                <NodeCell node={hop.target} consoles={hop.consoles} />
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

/** What a job has not read yet, how long it takes to, and where it stands still; or what would say so. */
function Unread({ lag, collector }: { lag: Hop["lag"]; collector: Hop["lag_collector"] }) {
    if (!lag)
        return (
            <td className="number">
                {collector !== undefined && (
                    <span className="hint">
                        not measured
                        <small>{collectorName(collector)} would</small>
                    </span>
                )}
            </td>
        );
    return (
        <td className="number" title={`as reported at ${moment(lag.at)}`}>
            {whole(lag.rows)}
            <small>{drainWords(lag)}</small>
            {lag.stuck && <small className="state warn">{stuckWords(lag.stuck)}</small>}
        </td>
    );
}

/** How many different values the column with the most of them has: as many as there are keys, if one column is the key. */
function Distinct({ found }: { found: NonNullable<Hop["read"]["distinct"]> }) {
    return (
        <small title={`as stated at ${moment(found.at)}`}>
            {whole(found.count)} distinct in <Name text={found.column} />
        </small>
    );
}

function Amount({ side }: { side: Hop["read"] }) {
    const { window, baseline, change, collector, distinct } = side;
    return (
        <td className="number">
            {window.rows !== undefined ? (
                whole(window.rows)
            ) : (
                <span className="hint" title={collectorWords(collector)}>
                    not measured
                    {collector !== undefined && <small>{collectorName(collector)} would</small>}
                </span>
            )}
            {window.rows !== undefined && (
                <small>before: {baseline.rows === undefined ? "none" : whole(baseline.rows)}</small>
            )}
            {distinct && <Distinct found={distinct} />}
            {change !== "unknown" && change !== "steady" && <State state={change} />}
        </td>
    );
}

/** A node, and the pages of consoles that show it. */
function NodeCell({ node, consoles }: { node: Schemas["GraphNode"]; consoles: Hop["consoles"] }) {
    return (
        <>
            <NodeLink node={node} />
            {consoles
                ?.filter((console) => console.node === node.id)
                .map(({ title, url }) => (
                    <small key={url}>
                        <ConsoleLink title={title} url={url} />
                    </small>
                ))}
        </>
    );
}

function NodeLink({ node }: { node: Schemas["GraphNode"] }) {
    return (
        <ViewLink to={lineageOf(refOf(node))}>
            <FullName {...node} />
        </ViewLink>
    );
}
