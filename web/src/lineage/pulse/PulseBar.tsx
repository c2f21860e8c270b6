import { useMemo } from "react";

import { show } from "../../address/history";
import type { LineageView } from "../../address/view";
import { counted, moment, whole } from "../../format/text";
import { Icon } from "../../parts/Icon";
import { Name } from "../../parts/Name";
import { State } from "../../parts/State";
import type { Picture } from "../picture/picture";
import { drainWords, stuckWords } from "./lag";
import { worstFirst } from "./rates";
import { usePulse } from "./store";

const SHOWN = 8;

/** What needs attention in the picture, the worst first, and the way to hold its numbers still. */
export function PulseBar({
    view,
    picture,
    select,
}: {
    view: LineageView;
    picture: Picture;
    select: (id: string) => void;
}) {
    const pulse = usePulse();
    const urgent = useMemo(() => worstFirst(picture, pulse.flows), [picture, pulse.flows]);
    const isLive = view.pulse === "live";
    return (
        <section className="pulse-bar" aria-label="Pulse">
            <button
                type="button"
                aria-pressed={!isLive}
                disabled={pulse.at === ""}
                onClick={() => show({ ...view, pulse: isLive ? pulse.at : "live" })}
                title="Keep these numbers, also in the address"
            >
                <Icon name={isLive ? "pause" : "clock"} />
                {isLive ? "Hold" : "Live again"}
            </button>
            <span className="hint">
                {pulse.error
                    ? pulse.error.message
                    : pulse.at === ""
                      ? "asking"
                      : `rates over the hour until ${moment(pulse.at)}`}
            </span>
            {urgent.length === 0 ? (
                <span className="state good">
                    <Icon name="check" />
                    every job shows life
                </span>
            ) : (
                <ol className="plain">
                    {urgent.slice(0, SHOWN).map(({ id, name, state, lag, reach }) => (
                        <li key={id}>
                            <button type="button" onClick={() => select(id)}>
                                <State state={state} />
                                <Name text={name} />
                                {lag && (
                                    <small>
                                        {whole(lag.rows)} unread, {drainWords(lag)}
                                        {lag.stuck && `; ${stuckWords(lag.stuck)}`};
                                    </small>
                                )}
                                <small>{counted(reach, "node")} downstream</small>
                            </button>
                        </li>
                    ))}
                    {urgent.length > SHOWN && <li className="hint">and {urgent.length - SHOWN} more</li>}
                </ol>
            )}
        </section>
    );
}
