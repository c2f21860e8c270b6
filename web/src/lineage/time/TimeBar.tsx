import { useState, type KeyboardEvent, type PointerEvent } from "react";

import { show } from "../../address/history";
import { keyOf } from "../../address/nodes";
import type { LineageView } from "../../address/view";
import { counted, moment } from "../../format/text";
import { Icon } from "../../parts/Icon";
import { LastGood } from "./LastGood";
import { wordsOf, type Comparison } from "./comparison";
import { nextMark, shareOf, textOf, timeAt, type Span } from "./scale";
import type { TimeState } from "./useTime";

const SPANS: readonly [number, string][] = [
    [24, "day"],
    [48, "2 days"],
    [24 * 7, "week"],
    [24 * 30, "30 days"],
    [24 * 365, "year"],
];
const STEP = 1 / 100;

/** The bar under the graph: what changed when, the time that is shown, and the one that it is compared with. */
export function TimeBar({ view, time }: { view: LineageView; time: TimeState }) {
    const { span, marks, comparison } = time;
    const [dragged, setDragged] = useState<{ end: "at" | "from"; share: number }>();
    const times = (marks ?? []).map(({ at }) => at);
    const set = (change: Partial<LineageView>, replace = false) => show(ordered({ ...view, ...change }), { replace });
    const shareAt = (event: PointerEvent<HTMLElement>) => {
        const box = event.currentTarget.parentElement?.getBoundingClientRect();
        return box ? Math.min(1, Math.max(0, (event.clientX - box.left) / box.width)) : 1;
    };
    const handle = (end: "at" | "from", label: string) => {
        const share = dragged?.end === end ? dragged.share : shareOf(span, view[end]);
        const shown = dragged?.end === end ? timeAt(span, share) : view[end];
        return (
            <div
                role="slider"
                tabIndex={0}
                className={`handle ${end}`}
                style={{ left: `${share * 100}%` }}
                aria-label={label}
                aria-valuemin={0}
                aria-valuemax={100}
                aria-valuenow={Math.round(share * 100)}
                aria-valuetext={shown === "" ? "now" : moment(shown)}
                onKeyDown={(event) => {
                    const next = keyed(event, span, shown, times);
                    if (next === undefined) return;
                    event.preventDefault();
                    event.stopPropagation();
                    set({ [end]: end === "from" && next === "" ? view.from : next }, true);
                }}
                onPointerDown={(event) => {
                    if (event.button !== 0) return;
                    event.currentTarget.setPointerCapture(event.pointerId);
                    setDragged({ end, share });
                }}
                onPointerMove={(event) => dragged?.end === end && setDragged({ end, share: shareAt(event) })}
                onPointerCancel={() => setDragged(undefined)}
                onPointerUp={() => {
                    if (dragged && share !== shareOf(span, view[end]))
                        set({ [end]: timeAt(span, end === "from" ? Math.min(0.99, share) : share) });
                    setDragged(undefined);
                }}
            >
                <span>{shown === "" ? "now" : moment(shown).slice(0, 16)}</span>
            </div>
        );
    };
    const [left, right] = [shareOf(span, view.from), shareOf(span, view.at)];
    return (
        <section className="time-bar" aria-label="Time">
            <div className="tools">
                <select
                    aria-label="How far back"
                    value={SPANS.find(([hours]) => hours >= view.bar)?.[0] ?? 24 * 365}
                    onChange={(event) => set({ bar: Number(event.target.value) }, true)}
                >
                    {SPANS.map(([hours, words]) => (
                        <option key={hours} value={hours}>
                            last {words}
                        </option>
                    ))}
                </select>
                <button
                    type="button"
                    aria-pressed={view.from !== ""}
                    onClick={() => set({ from: view.from === "" ? textOf(span.start) : "" })}
                >
                    Compare
                </button>
                <LastGood key={keyOf(view.root)} node={view.root} go={(time) => set({ from: time, at: "" })} />
                {(view.at !== "" || view.from !== "") && (
                    <button type="button" onClick={() => set({ at: "", from: "" })}>
                        Back to now
                    </button>
                )}
                <Summary comparison={comparison} marks={times.length} isPartial={time.truncated} />
            </div>
            <div className="track">
                {view.from !== "" && (
                    <i className="range" style={{ left: `${left * 100}%`, width: `${(right - left) * 100}%` }} />
                )}
                {marks?.map((mark, index) => (
                    <i
                        key={index}
                        className={`tick ${mark.what}`}
                        style={{ left: `${shareOf(span, mark.at) * 100}%` }}
                        title={`${moment(mark.at)}: ${mark.node.name} ${wordsOf(mark)}`}
                    />
                ))}
                {view.from !== "" && handle("from", "Compared with the lineage as of")}
                {handle("at", "Lineage as of")}
            </div>
            {time.error && <p className="hint">{time.error.message}</p>}
            {marks && marks.length > 0 && (
                <details>
                    <summary>{counted(marks.length, "change")} within this time</summary>
                    <ol className="plain marks">
                        {marks.toReversed().map((mark, index) => (
                            <li key={index}>
                                <i className={`tick ${mark.what}`} />
                                <time dateTime={mark.at}>{moment(mark.at)}</time>
                                <span>
                                    <b>{mark.node.name}</b> {wordsOf(mark)}
                                </span>
                                <button type="button" onClick={() => set({ from: before(mark.at), at: mark.at })}>
                                    Show this change
                                </button>
                            </li>
                        ))}
                    </ol>
                </details>
            )}
        </section>
    );
}

function Summary({
    comparison,
    marks,
    isPartial,
}: {
    comparison: Comparison | undefined;
    marks: number;
    isPartial: boolean;
}) {
    const words = comparison
        ? comparison.changes.size === 0
            ? "no difference"
            : `${comparison.added} added, ${comparison.removed} removed, ${comparison.changed} changed`
        : counted(marks, "change");
    return (
        <span className="summary" role="status">
            {comparison && <Icon name="graph" />}
            {words}
            {isPartial && ", and more that was not looked for"}
        </span>
    );
}

/** The earlier time stays the earlier one. */
function ordered(view: LineageView): LineageView {
    const [from, at] = [Date.parse(view.from), view.at === "" ? Infinity : Date.parse(view.at)];
    return view.from !== "" && from > at ? { ...view, from: view.at, at: view.from } : view;
}

function before(time: string): string {
    return textOf(Math.floor(Date.parse(time) / 1000) * 1000 - 1000);
}

/** The time that a key leads to from another one: a step, a mark, or an end. */
function keyed(event: KeyboardEvent, span: Span, time: string, times: readonly string[]): string | undefined {
    const share = shareOf(span, time);
    switch (event.key) {
        case "ArrowLeft":
            return timeAt(span, Math.max(0, share - STEP));
        case "ArrowRight":
            return timeAt(span, share + STEP);
        case "PageUp":
            return nextMark(times, time, true);
        case "PageDown":
            return nextMark(times, time, false);
        case "Home":
            return timeAt(span, 0);
        case "End":
            return "";
        default:
            return undefined;
    }
}
