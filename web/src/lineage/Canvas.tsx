import { Background, Controls, ReactFlow, useReactFlow, useStore } from "@xyflow/react";
import "@xyflow/react/dist/style.css";
import { memo, useEffect, useMemo, useRef } from "react";

import type { LineageView } from "../address/view";
import { useLayout } from "../graph/useLayout";
import { counted } from "../format/text";
import { CARD_WIDTH, cardHeight, gapOf, handlesOf } from "./cardSize";
import { columnEdges, linkEdge, tracedColumns } from "./edges";
import { FlowLink } from "./FlowLink";
import { Legend } from "./Legend";
import { LineCanvas } from "./lines/LineCanvas";
import { linesOf } from "./lines/lines";
import { Actions, NodeCard, type CardActions, type CardNode } from "./NodeCard";
import { Overview } from "./Overview";
import type { Picture } from "./picture";
import type { Comparison } from "./time/comparison";

/** From so many nodes on, cards are made only while they are in sight, and links are painted on a canvas. */
const LARGE_FROM = 150;
const MAPPED_FROM = 16;
/** The least scale at which the names of a whole picture can be read: the further away, the larger they are written. */
const READABLE = 0.4;
const CLOSE = 0.72;
const FAR = 0.54;
const NODE_TYPES = { card: NodeCard };
const EDGE_TYPES = { link: FlowLink };

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
}

/** The picture as a graph: to the right, or down where the stage is narrow. The root keeps its place when the picture grows. */
export const Canvas = memo(function Canvas(props: Props) {
    const { view, picture, rootId, columns, related, actions, isSeen, comparison, select } = props;
    const width = useStore((state) => state.width);
    const distance = useStore(({ transform: [, , scale] }) =>
        scale < FAR ? "far farther" : scale < CLOSE ? "far" : "",
    );
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
    const isDown = width > 0 && width < 640;
    const isLarge = useMemo(() => picture.nodes.filter(({ id }) => isSeen(id)).length > LARGE_FROM, [picture, isSeen]);
    const layout = useLayout(boxes, links, isDown, isDown ? undefined : gapOf(picture));
    const traced = useMemo(() => tracedColumns(picture), [picture]);
    const nodes = useMemo(() => {
        if (!layout) return [];
        const origin = layout.positions[rootId] ?? { x: 0, y: 0 };
        return picture.nodes.flatMap((node, index): CardNode[] => {
            const at = layout.positions[node.id];
            const box = boxes[index];
            if (!at || !box || !isSeen(node.id)) return [];
            const change = comparison?.changes.get(node.id);
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
                    ariaLabel: labelOf(node.kind, node.namespace, node.name, node.details?.state, change),
                    data: {
                        node,
                        isRoot: node.id === rootId,
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
        columns,
        related,
        traced,
        isSeen,
        comparison,
    ]);
    const back = useMemo(
        () => new Set(layout?.reversed.map(({ source, target }) => `${source}>${target}`)),
        [layout?.reversed],
    );
    const shown = useMemo(() => picture.links.filter(({ id }) => isSeen(id)), [picture.links, isSeen]);
    const lines = useMemo(
        () => (isLarge ? linesOf(shown, nodes, layout?.down ?? false, back, comparison) : []),
        [isLarge, shown, nodes, layout?.down, back, comparison],
    );
    const edges = useMemo(
        () => [
            ...(isLarge || !layout
                ? []
                : shown.map((link) => linkEdge(link, back.has(link.id), comparison?.changes.get(link.id)))),
            ...columnEdges(picture, columns, related),
        ],
        [isLarge, layout, shown, picture, columns, related, back, comparison],
    );
    return (
        <Actions.Provider value={actions}>
            <ReactFlow<CardNode>
                className={["canvas", distance, layout?.down && "down"].filter(Boolean).join(" ")}
                nodes={nodes}
                edges={edges}
                nodeTypes={NODE_TYPES}
                edgeTypes={EDGE_TYPES}
                onNodeClick={(_, node) => select(node.id)}
                onPaneClick={() => select("")}
                nodesDraggable={false}
                nodesConnectable={false}
                edgesFocusable={false}
                nodesFocusable
                elementsSelectable={false}
                onlyRenderVisibleElements={isLarge}
                minZoom={0.05}
                maxZoom={1.6}
                deleteKeyCode={null}
                disableKeyboardA11y={false}
                aria-label={`Lineage: ${counted(nodes.length, "node")}`}
            >
                <Background gap={24} size={1.4} />
                {isLarge && <LineCanvas lines={lines} distance={distance} />}
                <Controls showInteractive={false} />
                {nodes.length >= MAPPED_FROM && !layout?.down && <Overview nodes={nodes} rootId={rootId} />}
                <Legend picture={picture} isCyclic={(layout?.reversed.length ?? 0) > 0} />
                <Framing laidOut={layout ? `${rootId} ${nodes.length} ${layout.down}` : ""} root={rootId} />
            </ReactFlow>
        </Actions.Provider>
    );
});

/** Shows the whole picture when it appears or grows; one too large to be read like that, from its root. */
function Framing({ laidOut, root }: { laidOut: string; root: string }) {
    const { getNodesBounds, getNodes, getInternalNode, setCenter, fitView } = useReactFlow();
    const size = useStore(({ width, height }) => `${width} ${height}`);
    const framed = useRef("");
    useEffect(() => {
        const [width = 0, height = 0] = size.split(" ").map(Number);
        if (laidOut === "" || root === "" || width === 0 || framed.current === laidOut) return;
        const isCalm = framed.current === "" || window.matchMedia("(prefers-reduced-motion: reduce)").matches;
        framed.current = laidOut;
        const duration = isCalm ? 0 : 200;
        const bounds = getNodesBounds(getNodes());
        const node = getInternalNode(root);
        if (node && (bounds.width * READABLE > width * 0.94 || bounds.height * READABLE > height * 0.9)) {
            const { x, y } = node.internals.positionAbsolute;
            void setCenter(x + CARD_WIDTH / 2, y + 40, { zoom: CLOSE, duration });
        } else {
            void fitView({ padding: 0.06, maxZoom: 1.15, minZoom: READABLE, duration });
        }
    }, [laidOut, root, size, fitView, getNodesBounds, getNodes, getInternalNode, setCenter]);
    return null;
}

function labelOf(kind: string, namespace: string, name: string, ...more: (string | undefined)[]): string {
    return [`${kind} ${name} in ${namespace}`, ...more.filter((word) => word !== undefined)].join(", ");
}
