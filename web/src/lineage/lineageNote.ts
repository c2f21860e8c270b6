import type { LineageView } from "../address/view";
import { counted } from "../format/text";
import type { NoteContent } from "../note/note";
import type { Picture } from "./picture/picture";

const NOTHING: Picture = { nodes: [], links: [], columns: [], truncated: "", settling: false };

/** What the lineage shows, as a note. Pure, but for the time of a view of now. */
export function lineageNote(view: LineageView, picture: Picture = NOTHING, rootId: string): NoteContent {
    const at = view.at === "" ? new Date().toISOString() : view.at;
    const { nodes, links, truncated } = picture;
    return {
        subject: "Lineage of",
        names: [view.root],
        window: view.from === "" ? `as of ${at}` : `between ${view.from} and ${at}`,
        sentences: [
            `${counted(nodes.length, "node")}, ${counted(links.length, "link")}`,
            ...(truncated === "" ? [] : [`the limit of ${truncated} ended the search`]),
        ],
        items: nodes
            .filter(({ id }) => id !== rootId)
            .map(({ namespace, name, kind, details }) => ({
                namespace,
                name,
                words: [kind, details?.state].filter((word) => word !== undefined).join(", "),
            })),
        picture,
        rootIds: [rootId],
    };
}
