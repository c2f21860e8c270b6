import { useQuery } from "@tanstack/react-query";
import { useCallback } from "react";

import { show, ViewLink } from "../address/history";
import { MOST_HOPS, refOf } from "../address/nodes";
import { impactOf } from "../address/impact";
import { lineageOf, type Baseline, type LedgerView, type LineageView } from "../address/view";
import type { Schemas } from "../api/client";
import { ledger, timeline } from "../api/questions";
import { moment, ratio } from "../format/text";
import { CopyNote } from "../note/CopyNote";
import { CsvButton } from "../parts/CsvButton";
import { Icon } from "../parts/Icon";
import { Answer, Empty } from "../parts/Messages";
import { FullName, Name } from "../parts/Name";
import { useNow } from "../parts/useNow";
import { HopsTable } from "./HopsTable";
import { ledgerNote } from "./ledgerNote";
import { changesIn, csvRows } from "./rows";
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
    const asked = found.data;
    const changed = useQuery({
        ...timeline(view.target, MOST_HOPS, asked?.window.since ?? "", asked?.window.until ?? ""),
        enabled: asked !== undefined,
    });
    // Those of the question before would be taken for those of this one.
    const changes = changed.isPlaceholderData ? undefined : changed.data;
    const changesOf = (hop: Hop) => changesIn(changes?.marks ?? [], hop);
    const knownOf = (hop: Hop) => (changes ? changesOf(hop) : ["not known"]);
    const content = useCallback(() => ledgerNote(view.target, found.data as Answered), [view.target, found.data]);
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
                {found.data && <CsvButton name="ledger" rows={() => csvRows(found.data.hops, knownOf)} />}
                {found.data && <CopyNote content={content} />}
            </form>
            <Answer query={found} kind={view.target.kind}>
                {(answer) =>
                    answer.hops.length === 0 ? (
                        <Empty title="Nothing lies upstream">
                            <p>No job is known to write it, so there is nothing to compare.</p>
                        </Empty>
                    ) : (
                        <>
                            <Verdict answer={answer} />
                            <p className="hint">
                                {moment(answer.window.since)} to {moment(answer.window.until)}, compared with{" "}
                                {moment(answer.baseline.since)} to {moment(answer.baseline.until)}. Sources first.
                                {changes?.truncated && " There are changes in this time that were not looked for."}
                                {!changes &&
                                    (changed.error
                                        ? ` What changed in this time is not known: ${changed.error.message}`
                                        : " Looking for what changed in this time …")}
                            </p>
                            <HopsTable hops={answer.hops} changesOf={changesOf} now={now} />
                        </>
                    )
                }
            </Answer>
        </div>
    );
}

function Verdict({ answer }: { answer: Answered }) {
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
                        It was right until {moment(lastGood)}.{" "}
                        <ViewLink to={since(first, lastGood)}>What has changed since?</ViewLink>
                    </>
                )}
            </span>
        </p>
    );
}

/** The lineage around the job that went wrong, now and at the last time at which it was right. */
function since({ job }: Hop, time: string): LineageView {
    return { ...lineageOf(refOf(job)), down: 2, bar: 24, from: time };
}
