import { Modal } from "./Modal";

const KEYS: readonly [string, string][] = [
    ["/", "search"],
    ["Ctrl K", "search, from anywhere"],
    ["Shift Enter", "in the search: the paths from what is shown to what is chosen"],
    ["L", "hop ledger: where did the number go wrong?"],
    ["B", "blast radius: what does a change of the selected or picked nodes, or of the chosen column, affect?"],
    ["X or Space", "pick the node that has the focus, for one blast radius of several; again: leave it"],
    ["W", "the whole estate: systems, and what flows between them"],
    ["T", "list instead of graph, and back"],
    ["P", "pulse: rates on the links, and what shows no life"],
    ["H", "time bar: what changed since it was right?"],
    ["F", "filter: systems, types, tags, origin, evidence, state"],
    ["O", "fold jobs with one input and one output and groups that read the same, or unfold them"],
    ["E", "export what is drawn: SVG, PNG, CSV, JSON, Mermaid, OpenLineage"],
    ["N", "copy a lineage, ledger, blast radius or trace as a note: link, names, time and a small picture"],
    ["Page up and down", "on the time bar: to the next or the previous change"],
    ["Arrow keys", "to the nearest node in that direction"],
    ["+ and -", "one hop more, or less, on both sides"],
    [
        "U and D",
        "only what is up- or downstream of the selected node; again: everything; D shows each of counted groups",
    ],
    ["Shift U and D", "one hop more at the selected node, up- or downstream"],
    ["C", "show or hide the columns of the selected dataset"],
    ["K", "pins: keep this view under a short link, or open one"],
    ["Enter", "open what has the focus"],
    ["Escape", "close, or select nothing"],
    ["Backspace", "the view before"],
];

export function Shortcuts({ close }: { close: () => void }) {
    return (
        <Modal label="Keys" close={close}>
            <h2>Keys</h2>
            <dl className="keys">
                {KEYS.map(([key, meaning]) => (
                    <div key={key}>
                        <dt>
                            <kbd>{key}</kbd>
                        </dt>
                        <dd>{meaning}</dd>
                    </div>
                ))}
            </dl>
            <button type="button" onClick={close}>
                Close
            </button>
        </Modal>
    );
}
