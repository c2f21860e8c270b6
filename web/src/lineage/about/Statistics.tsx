import { useQuery } from "@tanstack/react-query";
import { useState } from "react";

import { ViewLink } from "../../address/history";
import { lineageOf, type NodeRef } from "../../address/view";
import { statistics } from "../../api/questions";
import { moment, whole } from "../../format/text";
import { CsvButton } from "../../parts/CsvButton";
import { Answer, Empty } from "../../parts/Messages";
import { ShortName } from "../../parts/Name";
import { useNow } from "../../parts/useNow";
import {
    barsOf,
    csvRows,
    endOfBar,
    inWords,
    measuresOf,
    ordered,
    short,
    SPANS,
    type Measure,
    type Series,
    type Span,
} from "./amounts";

/** How many charts are shown at first. */
const SHOWN = 6;

/** How much was written to a dataset and read from it, or by a job, in bars over time. `at` is the end of the time; empty for now: the bars
 * are then whole hours or days of UTC, the last one not yet over, so that they are the same for everybody who looks at them.
 */
export default function Statistics({ node, at }: { node: NodeRef; at: string }) {
    const [span, setSpan] = useState<Span>(SPANS[0]);
    const [wished, setWished] = useState<Measure>("rows");
    const [isWhole, setWhole] = useState(false);
    const now = useNow(60);
    const until = at === "" ? endOfBar(now, span) : at;
    const since = new Date(Date.parse(until) - span.seconds * 1000).toISOString();
    return (
        <>
            <p className="tools">
                <label>
                    Over{" "}
                    <select
                        value={span.words}
                        onChange={({ target }) =>
                            setSpan(SPANS.find(({ words }) => words === target.value) ?? SPANS[0])
                        }
                    >
                        {SPANS.map(({ words }) => (
                            <option key={words}>{words}</option>
                        ))}
                    </select>
                </label>
            </p>
            <Answer query={useQuery(statistics(node, since, until, span.bar))} kind={node.kind}>
                {(answer) => {
                    const measures = measuresOf(answer.series);
                    const measure = measures.includes(wished) ? wished : measures[0];
                    if (measure === undefined)
                        return <Empty title={`No run has reported amounts within ${span.words}`} />;
                    const every = ordered(answer.series, measure);
                    return (
                        <>
                            <div className="tools">
                                <label>
                                    Measure{" "}
                                    <select
                                        value={measure}
                                        onChange={({ target }) => setWished(target.value as Measure)}
                                    >
                                        {measures.map((word) => (
                                            <option key={word}>{word}</option>
                                        ))}
                                    </select>
                                </label>
                                <CsvButton name="statistics" rows={() => csvRows(answer.series)} />
                            </div>
                            {answer.truncated && <p className="hint">Not all runs of this time were read.</p>}
                            <ul className="plain rows">
                                {every.slice(0, isWhole ? every.length : SHOWN).map((series) => (
                                    <li key={JSON.stringify([series.job, series.dataset, series.side])}>
                                        <Chart {...{ series, measure, span }} since={answer.since} of={node.kind} />
                                    </li>
                                ))}
                            </ul>
                            {every.length > SHOWN && !isWhole && (
                                <button type="button" onClick={() => setWhole(true)}>
                                    Show {whole(every.length - SHOWN)} more
                                </button>
                            )}
                        </>
                    );
                }}
            </Answer>
        </>
    );
}

const WIDTH = 320;
const HEIGHT = 56;
const LEAST = 1.5;

interface ChartProps {
    series: Series;
    measure: Measure;
    span: Span;
    since: string;
    of: NodeRef["kind"];
}

/** One series in bars, with the same as a table; the tallest bar fills the chart, whose number stands beside it. */
function Chart({ series, measure, span, since, of }: ChartProps) {
    const bars = barsOf(series, measure, since, span);
    const most = Math.max(0, ...bars.map(({ amount }) => amount ?? 0));
    const step = WIDTH / bars.length;
    const other = of === "dataset" ? series.job : series.dataset;
    const verb = of === "dataset" ? { output: "written by", input: "read by" } : { output: "to", input: "from" };
    return (
        <figure className="chart">
            <figcaption>
                <b>{short(series[measure] ?? 0, measure)}</b> {measure} {verb[series.side]}{" "}
                <ViewLink to={lineageOf({ ...other, kind: of === "dataset" ? "job" : "dataset" })}>
                    <ShortName text={other.name} most={60} />
                </ViewLink>
            </figcaption>
            <svg
                viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
                preserveAspectRatio="none"
                role="img"
                aria-label={inWords(series, measure, bars)}
            >
                {bars.map(({ start, amount }, index) => {
                    if (amount === undefined) return null;
                    const height = most === 0 ? LEAST : Math.max(LEAST, (amount / most) * HEIGHT);
                    return (
                        <rect
                            key={start}
                            x={index * step}
                            y={HEIGHT - height}
                            width={Math.max(1, step - 2)}
                            height={height}
                            className={series.side}
                        />
                    );
                })}
            </svg>
            <p className="axis hint">
                <span>{moment(since).slice(0, 16)}</span>
                <span>most {short(most, measure)}</span>
                <span>
                    {series.runs === 1 ? "1 run" : `${whole(series.runs)} runs`}, bars of {span.bar / 3600} h
                </span>
            </p>
            <details>
                <summary>As a table</summary>
                <table>
                    <thead>
                        <tr>
                            <th scope="col">From (UTC)</th>
                            <th scope="col" className="number">
                                {measure}
                            </th>
                        </tr>
                    </thead>
                    <tbody>
                        {bars.map(
                            ({ start, amount }) =>
                                amount !== undefined && (
                                    <tr key={start}>
                                        <th scope="row">{moment(start).slice(0, 16)}</th>
                                        <td className="number">{whole(amount)}</td>
                                    </tr>
                                ),
                        )}
                    </tbody>
                </table>
            </details>
        </figure>
    );
}
