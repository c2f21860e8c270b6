import { useMemo } from "react";

import { show } from "../address/history";
import type { ImpactView } from "../address/impact";
import { refOf } from "../address/nodes";
import { lineageOf } from "../address/view";
import { whole } from "../format/text";
import { Empty } from "../parts/Messages";
import { Canvas } from "../lineage/canvas/Canvas";
import type { CardActions } from "../lineage/canvas/NodeCard";
import type { Picture } from "../lineage/picture/picture";

/** A graph of more nodes shows nobody a way. */
const MOST_DRAWN = 1500;
const NO_COLUMNS: ReadonlyMap<string, string[]> = new Map();
const NONE: ReadonlySet<string> = new Set();
const EVERYTHING = () => true;
const NOTHING_MORE: CardActions = {
    expand: () => undefined,
    fold: () => undefined,
    pick: () => undefined,
    takeApart: () => undefined,
    chooseColumn: () => undefined,
    awaited: { current: "" },
};

interface Props {
    view: ImpactView;
    picture: Picture;
    /** Ids of what the question is about. */
    roots: ReadonlySet<string>;
    /** Ids of the nodes and links of lit ways. */
    lit: ReadonlySet<string>;
}

/** The rows of a blast radius and the flows between them as a graph. A node that is chosen in it opens its lineage. */
export function ImpactGraph({ view, picture, roots, lit }: Props) {
    const lineage = useMemo(() => lineageOf(view.root), [view.root]);
    const [rootId = ""] = roots;
    const open = (id: string) => {
        const node = picture.nodes.find((node) => node.id === id);
        if (node) show(lineageOf(refOf(node)));
    };
    if (picture.nodes.length > MOST_DRAWN) {
        return (
            <Empty title={`${whole(picture.nodes.length)} nodes are too many to draw`}>
                <p>The list has all of them; its groups tell whom to talk to.</p>
            </Empty>
        );
    }
    return (
        <div className="impact-graph">
            <Canvas
                {...{ picture, rootId, roots, lit }}
                view={lineage}
                columns={NO_COLUMNS}
                related={NONE}
                actions={NOTHING_MORE}
                isSeen={EVERYTHING}
                comparison={undefined}
                select={open}
            />
        </div>
    );
}
