import { useMutation } from "@tanstack/react-query";

import type { LineageView } from "../../address/view";
import { answered, client } from "../../api/client";
import { csv } from "../../format/text";
import { Icon } from "../../parts/Icon";
import { Failure } from "../../parts/Messages";
import { saveFile } from "../../parts/save";
import { Modal } from "../../shell/Modal";
import type { Picture } from "../picture/picture";
import { usePulse } from "../pulse/store";
import { drawingOf } from "./drawing";
import { pngOf } from "./png";
import { svgOf } from "./svg";
import { jsonOf, linkRows, mermaidOf, type Marks } from "./texts";

interface Props extends Pick<Marks, "changes"> {
    view: LineageView;
    /** What is drawn. */
    picture: Picture;
    rootId: string;
    close: () => void;
}

/** Saves what is drawn, in the form that is chosen; all are made from the same picture. */
export function ExportDialog({ view, picture, rootId, close, changes }: Props) {
    const marks: Marks = { changes, flows: usePulse().flows };
    const at = view.at === "" ? new Date().toISOString() : view.at;
    const drawing = () =>
        drawingOf(picture, rootId, `${view.root.kind} ${view.root.name}, ${view.root.namespace}, as of ${at}`);
    const forms: readonly [string, string, string, () => Blob | Promise<Blob>][] = [
        ["SVG", "svg", "a picture that stays sharp", () => new Blob([svgOf(drawing())], { type: "image/svg+xml" })],
        ["PNG", "png", "a picture", () => pngOf(drawing())],
        ["CSV", "csv", "each link in a row", () => new Blob([csv(linkRows(picture, marks))], { type: "text/csv" })],
        ["JSON", "json", "nodes, links and columns", () => json(jsonOf(picture, window.location.href, at))],
        ["Mermaid", "mmd", "a diagram for Markdown", () => new Blob([mermaidOf(picture)], { type: "text/plain" })],
        ["OpenLineage", "openlineage.json", OPENLINEAGE[view.root.kind], async () => json(await openLineage(view))],
    ];
    const save = useMutation({
        mutationFn: async ([, ending, , make]: (typeof forms)[number]) => saveFile(`lineage.${ending}`, await make()),
    });
    return (
        <Modal label="Export" close={close}>
            <h2>Export what is drawn</h2>
            <ul className="plain exports">
                {forms.map((form) => (
                    <li key={form[0]}>
                        <button
                            type="button"
                            disabled={save.isPending || (form[0] === "OpenLineage" && view.root.kind === "job")}
                            onClick={() => save.mutate(form)}
                        >
                            <Icon name="download" />
                            {form[0]}
                        </button>
                        <span className="hint">{form[2]}</span>
                    </li>
                ))}
            </ul>
            {save.error && <Failure problem={save.error} />}
            <p className="visually-hidden" role="status">
                {save.isSuccess ? "Saved" : ""}
            </p>
            <button type="button" onClick={close}>
                Close
            </button>
        </Modal>
    );
}

const OPENLINEAGE = {
    dataset: "an event for each job around the dataset, without filters",
    job: "of datasets only: start at one of those that the job reads or writes",
};

function json(text: string): Blob {
    return new Blob([text], { type: "application/json" });
}

/** The events that the server makes of the lineage around a dataset, as far as the hops of the view go. */
async function openLineage({ root: { namespace, name }, up, down, at }: LineageView): Promise<string> {
    const time = at === "" ? {} : { at };
    const sides = [
        ["upstream", up],
        ["downstream", down],
    ] as const;
    const answers = await Promise.all(
        sides
            .filter(([, depth]) => depth > 0)
            .map(([direction, depth]) => {
                const query = { namespace, name, direction, depth, ...time };
                return answered(client.GET("/api/v1/lineage/datasets/lineage", { params: { query } }));
            }),
    );
    const events = new Map(answers.flatMap((answer) => answer.events).map((event) => [JSON.stringify(event), event]));
    return JSON.stringify([...events.values()], null, 2);
}
