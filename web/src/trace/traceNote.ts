import type { TraceView } from "../address/trace";
import type { Schemas } from "../api/client";
import { counted, visible } from "../format/text";
import type { NoteContent } from "../note/note";
import { pictureOfTrace } from "../note/pictures";
import { coverageWords } from "./coverage";

type Trace = Schemas["TraceAnswer"];

/** A trace as a note: each column that it reaches. Pure, but for the time of a view of now. */
export function traceNote(view: TraceView, answer: Trace): NoteContent {
    const nodes = new Map(answer.nodes.map((node) => [node.id, node]));
    const subject = view.direction === "upstream" ? "Where it comes from:" : "Where it goes:";
    return {
        subject: `${subject} ${view.field === "" ? "every column" : visible(view.field)} of`,
        names: [view.dataset],
        window: `as of ${view.at === "" ? new Date().toISOString() : view.at}`,
        sentences: [
            coverageWords(answer, view.direction),
            ...(answer.truncated === "" ? [] : [`the limit of ${answer.truncated} ended the search`]),
        ],
        items: answer.columns.flatMap(({ node: id, field, distance, end }) => {
            const node = nodes.get(id);
            if (!node || id === answer.origin.id) return [];
            const words = [
                field === "" ? "all of it" : `column ${visible(field)}`,
                ...(distance === undefined ? [] : [counted(distance, "hop")]),
                ...(end === undefined ? [] : [end]),
            ];
            return [{ namespace: node.namespace, name: node.name, words: words.join(", ") }];
        }),
        picture: pictureOfTrace(answer),
        rootIds: [answer.origin.id],
    };
}
