import { ReactFlowProvider } from "@xyflow/react";
import { memo, useMemo, useRef } from "react";

import { keyOf } from "../../address/nodes";
import type { LineageView } from "../../address/view";
import { useLayout } from "../../graph/useLayout";
import { useSize } from "../../graph/useSize";
import { CARD_WIDTH, cardHeight, gapOf, handlesOf } from "./cardSize";
import { columnEdges, linkEdge, tracedColumns } from "../picture/edges";
import { Drawing } from "./Drawing";
import { linesOf } from "../lines/lines";
import { Actions, type CardActions, type CardNode } from "./NodeCard";
import { isPicked, type Picture } from "../picture/picture";
import type { Comparison } from "../time/comparison";

/** From so many nodes on, cards are made only while they are in sight, and links are painted on a canvas. */
const LARGE_FROM = 150;
/** Where there is less room, in pixels, data goes down. */
const NARROW = 640;

interface Props {
    view: LineageView;
    picture: Picture;
    rootId: string;
    columns: ReadonlyMap<string, string[]>;
    related: ReadonlySet<string>;
    actions: CardActions;
    isSeen: (id: string) => boolean;
    comparison: Comparison | undefined;
    select: (id: string) => void;
    /** Where it starts, if at more than its root. */
    roots?: ReadonlySet<string> | undefined;
    /** Ids of the nodes and links of the ways that are lit. */
    lit?: ReadonlySet<string> | undefined;
}

/** The picture as a graph: to the right, or down where the stage is narrow. The root keeps its place when the picture grows. */
export const Canvas = memo(function Canvas(props: Props) {
    const { view, picture, rootId, columns, related, actions, isSeen, comparison, select, roots, lit } = props;
    const place = useRef<HTMLDivElement>(null);
    const size = useSize(place);
    const boxes = useMemo(
        () =>
            picture.nodes.map((node) => ({
                id: node.id,
                width: CARD_WIDTH,
                height: cardHeight(node, columns.get(node.id)?.length),
            })),
        [picture.nodes, columns],
    );
    const links = useMemo(() => picture.links.map(({ source, target }) => ({ source, target })), [picture.links]);
    const isDown = size !== undefined && size.width < NARROW;
    const isLarge = useMemo(() => picture.nodes.filter(({ id }) => isSeen(id)).length > LARGE_FROM, [picture, isSeen]);
    const layout = useLayout(size && boxes, links, isDown, isDown ? undefined : gapOf(picture, view.pulse !== ""));
    const traced = useMemo(() => tracedColumns(picture), [picture]);
    const picked = useMemo(() => new Set(view.picked.map(keyOf)), [view.picked]);
    const nodes = useMemo(() => {
        if (!layout) return [];
        const origin = layout.positions[rootId] ?? { x: 0, y: 0 };
        return picture.nodes.flatMap((node, index): CardNode[] => {
            const at = layout.positions[node.id];
            const box = boxes[index];
            if (!at || !box || !isSeen(node.id)) return [];
            const change = comparison?.changes.get(node.id);
            const isOneOfPicked = isPicked(node, picked);
            const words = [node.details?.state, change, isOneOfPicked ? "picked" : undefined];
            return [
                {
                    id: node.id,
                    type: "card",
                    position: { x: at.x - origin.x, y: at.y - origin.y },
                    width: box.width,
                    height: box.height,
                    measured: { width: box.width, height: box.height },
                    handles: handlesOf(box.height, layout.down, related.size > 0 ? columns.get(node.id) : []),
                    selected: node.id === view.selected,
                    ...(lit?.has(node.id) ? { className: "lit" } : {}),
                    ariaLabel: labelOf(node.kind, node.namespace, node.name, ...words),
                    data: {
                        node,
                        isRoot: roots?.has(node.id) ?? node.id === rootId,
                        isPicked: isOneOfPicked,
                        isDown: layout.down,
                        change,
                        columns: columns.get(node.id),
                        related,
                        traced,
                        expanded: view.expansions.filter(({ id }) => id === node.id).map(({ direction }) => direction),
                    },
                },
            ];
        });
    }, [
        layout,
        picture.nodes,
        boxes,
        rootId,
        view.selected,
        view.expansions,
        picked,
        columns,
        related,
        traced,
        isSeen,
        comparison,
        roots,
        lit,
    ]);
    const back = useMemo(
        () => new Set(layout?.reversed.map(({ source, target }) => `${source}>${target}`)),
        [layout?.reversed],
    );
    const shown = useMemo(() => picture.links.filter(({ id }) => isSeen(id)), [picture.links, isSeen]);
    const lines = useMemo(
        () => (isLarge && layout ? linesOf(shown, nodes, layout, back, comparison) : []),
        [isLarge, shown, nodes, layout, back, comparison],
    );
    const edges = useMemo(
        () => [
            ...(layout ? shown.filter(({ id }) => !isLarge || lit?.has(id)) : []).map((link) =>
                linkEdge(link, back.has(link.id), comparison?.changes.get(link.id), {
                    gap: layout?.gap,
                    isLit: lit?.has(link.id) ?? false,
                }),
            ),
            ...columnEdges(picture, columns, related),
        ],
        [isLarge, layout, shown, picture, columns, related, back, comparison, lit],
    );
    return (
        <Actions.Provider value={actions}>
            <div className="drawing" ref={place}>
                {size && layout && (
                    <ReactFlowProvider
                        initialNodes={nodes}
                        initialEdges={edges}
                        initialWidth={size.width}
                        initialHeight={size.height}
                    >
                        <Drawing
                            {...{ nodes, edges, lines, picture, rootId, isLarge, size, select, pick: actions.pick }}
                            isDown={layout.down}
                            isWide={layout.gap !== undefined}
                            isCyclic={back.size > 0}
                        />
                    </ReactFlowProvider>
                )}
            </div>
        </Actions.Provider>
    );
});

function labelOf(kind: string, namespace: string, name: string, ...more: (string | undefined)[]): string {
    return [`${kind} ${name} in ${namespace}`, ...more.filter((word) => word !== undefined)].join(", ");
}
