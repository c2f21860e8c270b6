import { useQuery } from "@tanstack/react-query";

import { show, ViewLink } from "../address/history";
import { MOST_HOPS, refOf } from "../address/nodes";
import { impactOf } from "../address/impact";
import { lineageOf, type Baseline, type LedgerView, type LineageView, type NodeRef } from "../address/view";
import type { Schemas } from "../api/client";
import { ledger } from "../api/questions";
import { moment, ratio, whole } from "../format/text";
import { CopyButton } from "../parts/CopyButton";
import { CsvButton } from "../parts/CsvButton";
import { Icon } from "../parts/Icon";
import { Answer, Empty } from "../parts/Messages";
import { FullName, Name } from "../parts/Name";
import { State } from "../parts/State";
import { useNow } from "../parts/useNow";
import { hopsUp } from "./hopsUp";
import { checkQuery } from "./checkQuery";
import { windowsOf } from "./windows";

type Hop = Schemas["LedgerHopAnswer"];
type Answered = Schemas["LedgerAnswer"];

const HOURS = [1, 6, 24, 72, 168];
const BASELINES: Record<Baseline, string> = {
    yesterday: "the same hours yesterday",
    week: "the same hours a week ago",
    before: "as long, right before",
};

/** How much passed each hop upstream of a dataset, against a baseline, and where the ratio changed first. */
export default function Ledger({ view }: { view: LedgerView }) {
    const now = useNow(60);
    const found = useQuery(ledger({ target: view.target, ...windowsOf(view, now) }));
    const change = (part: Partial<LedgerView>) => show({ ...view, ...part });
    return (
        <div className="column wide">
            <h1>
                Hop ledger of <FullName {...view.target} />
            </h1>
            <p className="lead">
                How many rows each job upstream read and wrote, and where the ratio first left that of the baseline.
            </p>
            <form className="tools" onSubmit={(event) => event.preventDefault()}>
                <label>
                    Window
                    <select value={view.hours} onChange={(event) => change({ hours: Number(event.target.value) })}>
                        {[...new Set([...HOURS, view.hours])].map((hours) => (
                            <option key={hours} value={hours}>
                                {hours < 48 ? `${hours} h` : `${hours / 24} days`}
                            </option>
                        ))}
                    </select>
                </label>
                <label>
                    Baseline
                    <select
                        value={view.baseline}
                        onChange={(event) => change({ baseline: event.target.value as Baseline })}
                    >
                        {Object.entries(BASELINES).map(([key, words]) => (
                            <option key={key} value={key}>
                                {words}
                            </option>
                        ))}
                    </select>
                </label>
                <button
                    type="button"
                    aria-pressed={view.until !== ""}
                    onClick={() => change({ until: view.until === "" ? windowsOf(view, now).until : "" })}
                    title="Keep the end of the window in the address, so that others see the same numbers"
                >
                    <Icon name="pause" />
                    {view.until === "" ? "Pin the time" : `Pinned: ${moment(view.until)}`}
                </button>
                <ViewLink className="button" to={lineageOf(view.target)}>
                    <Icon name="graph" />
                    Graph
                </ViewLink>
                <ViewLink className="button" to={impactOf(view.target)}>
                    <Icon name="blast" />
                    Impact
                </ViewLink>
                {found.data && <CsvButton name="ledger" rows={() => csvRows(found.data.hops)} />}
            </form>
            <Answer query={found} kind={view.target.kind}>
                {(answer) =>
                    answer.hops.length === 0 ? (
                        <Empty title="Nothing lies upstream">
                            <p>No job is known to write it, so there is nothing to compare.</p>
                        </Empty>
                    ) : (
                        <>
                            <Verdict answer={answer} target={view.target} />
                            <p className="hint">
                                {moment(answer.window.since)} to {moment(answer.window.until)}, compared with{" "}
                                {moment(answer.baseline.since)} to {moment(answer.baseline.until)}. Sources first.
                            </p>
                            <Hops hops={answer.hops} />
                        </>
                    )
                }
            </Answer>
        </div>
    );
}

function Verdict({ answer, target }: { answer: Answered; target: NodeRef }) {
    const { hops, last_good: lastGood } = answer;
    const first = hops.find(({ diverged }) => diverged);
    if (!first) {
        const isMeasured = hops.some(
            ({ ratio: now, baseline_ratio: before }) => now !== undefined && before !== undefined,
        );
        return (
            <p className={`notice ${isMeasured ? "good" : ""}`} role="status">
                <Icon name={isMeasured ? "check" : "question"} />
                {isMeasured
                    ? "No measured hop left the ratio of its baseline."
                    : "No hop is measured on both sides, so nothing can be compared."}
            </p>
        );
    }
    return (
        <p className="notice bad" role="status">
            <Icon name="warning" />
            <span>
                First divergence:{" "}
                <b>
                    <Name text={first.job.name} />
                </b>{" "}
                wrote {ratio(first.ratio ?? 0)} rows of <Name text={first.target.name} /> for each row that it read;
                before, it was {ratio(first.baseline_ratio ?? 0)}.
                {lastGood !== undefined && (
                    <>
                        {" "}
                        It was last right at {moment(lastGood)}.{" "}
                        <ViewLink to={since(target, answer, first, lastGood)}>What has changed since?</ViewLink>
                    </>
                )}
            </span>
        </p>
    );
}

/** The lineage now, compared with the last time at which it was right, as far as the hop that went wrong. */
function since(target: NodeRef, { hops, target: { id } }: Answered, wrong: Hop, time: string): LineageView {
    const up = Math.min(MOST_HOPS, hopsUp(hops, id, wrong.target.id) + 1);
    return { ...lineageOf(target), up, bar: 24, from: time, selected: wrong.job.id };
}

function Hops({ hops }: { hops: Hop[] }) {
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

function csvRows(hops: Hop[]): (string | number | undefined)[][] {
    const head = [
        "job_namespace",
        "job",
        "source_namespace",
        "source",
        "target_namespace",
        "target",
        "read",
        "read_baseline",
    ];
    return [
        [...head, "written", "written_baseline", "ratio", "ratio_baseline", "first_divergence"],
        ...hops.map((hop) => [
            ...[hop.job, hop.source, hop.target].flatMap(({ namespace, name }) => [namespace, name]),
            ...[hop.read.window.rows, hop.read.baseline.rows, hop.written.window.rows, hop.written.baseline.rows],
            ...[hop.ratio, hop.baseline_ratio],
            hop.diverged ? "yes" : "",
        ]),
    ];
}
