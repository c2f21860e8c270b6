import { show, ViewLink } from "../address/history";
import { impactOf } from "../address/impact";
import { keyOf, MOST_ROOTS } from "../address/nodes";
import type { LineageView, NodeRef } from "../address/view";
import { counted } from "../format/text";
import { Icon } from "../parts/Icon";
import { ShortName } from "../parts/Name";

/** The nodes that are picked for one question about all of them, also those that are not drawn, and that question. */
export function Picked({ view, pickNone }: { view: LineageView; pickNone: () => void }) {
    const { picked } = view;
    const [first, ...others] = picked;
    const last = picked.at(-1);
    const leave = (left: NodeRef) => show({ ...view, picked: picked.filter((ref) => ref !== left) }, { replace: true });
    return (
        <>
            {first && (
                <div className="picks" role="group" aria-label="Picked">
                    <ul className="plain chips" aria-label="Picked nodes">
                        {picked.map((ref) => (
                            <li key={keyOf(ref)} className="chip">
                                <ShortName text={ref.name} most={48} />
                                <button
                                    type="button"
                                    className="bare"
                                    aria-label={`Without ${ref.name}`}
                                    onClick={() => leave(ref)}
                                >
                                    <Icon name="cross" />
                                </button>
                            </li>
                        ))}
                    </ul>
                    <span className="tools">
                        <ViewLink
                            className="button"
                            to={impactOf(first, ...others)}
                            title="What does a change of them affect? (B)"
                        >
                            <Icon name="blast" />
                            Impact of {others.length === 0 ? "it" : `these ${picked.length}`}
                        </ViewLink>
                        <button type="button" onClick={pickNone}>
                            Pick none
                        </button>
                    </span>
                    {picked.length === MOST_ROOTS && (
                        <p className="hint">No more can be picked: a blast radius is of {MOST_ROOTS} nodes at most.</p>
                    )}
                </div>
            )}
            <p className="visually-hidden" role="status">
                {last ? `${counted(picked.length, "node")} picked, the last ${last.name}` : ""}
            </p>
        </>
    );
}
