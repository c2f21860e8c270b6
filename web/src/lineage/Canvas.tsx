import {
    Background,
    Controls,
    MarkerType,
    ReactFlow,
    useReactFlow,
    useStore,
    type Edge as FlowEdge,
} from "@xyflow/react";
import "@xyflow/react/dist/style.css";
import { useEffect, useMemo, useRef } from "react";

import type { LineageView } from "../address/view";
import { useLayout } from "../graph/useLayout";
import { counted } from "../format/text";
import { Actions, CARD_WIDTH, cardHeight, COLUMNS_SHOWN, NodeCard, type CardActions, type CardNode } from "./NodeCard";
import { columnKey, type Picture, type PictureLink } from "./picture";

const CULLED_FROM = 150;
/** The least scale at which names can be read. */
const READABLE = 0.75;
const TYPES = { card: NodeCard };

interface Props {
    view: LineageView;
    picture: Picture;
    rootId: string;
    columns: ReadonlyMap<string, string[]>;
    related: ReadonlySet<string>;
    actions: CardActions;
    select: (id: string) => void;
}

/** The picture as a graph. The root keeps its place when the picture grows. */
export function Canvas({ view, picture, rootId, columns, related, actions, select }: Props) {
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
    const layout = useLayout(boxes, links);
    const traced = useMemo(() => tracedColumns(picture), [picture]);
    const nodes = useMemo(() => {
        if (!layout) return [];
        const origin = layout.positions[rootId] ?? { x: 0, y: 0 };
        return picture.nodes.flatMap((node, index): CardNode[] => {
            const at = layout.positions[node.id];
            const box = boxes[index];
            if (!at || !box) return [];
            return [
                {
                    id: node.id,
                    type: "card",
                    position: { x: at.x - origin.x, y: at.y - origin.y },
                    width: box.width,
                    height: box.height,
                    selected: node.id === view.selected,
                    ariaLabel: labelOf(node.kind, node.namespace, node.name, node.details?.state),
                    data: {
                        node,
                        isRoot: node.id === rootId,
                        columns: columns.get(node.id),
                        related,
                        traced,
                        expanded: view.expansions.filter(({ id }) => id === node.id).map(({ direction }) => direction),
                    },
                },
            ];
        });
    }, [layout, picture.nodes, boxes, rootId, view.selected, view.expansions, columns, related, traced]);
    const edges = useMemo(() => {
        const back = new Set(layout?.reversed.map(({ source, target }) => `${source}>${target}`));
        return [
            ...picture.links.map((link) => flowEdge(link, back.has(link.id))),
            ...columnEdges(picture, columns, related),
        ];
    }, [picture, columns, related, layout]);
    return (
        <Actions.Provider value={actions}>
            <ReactFlow<CardNode>
                className="canvas"
                nodes={nodes}
                edges={edges}
                nodeTypes={TYPES}
                onNodeClick={(_, node) => select(node.id)}
                onPaneClick={() => select("")}
                nodesDraggable={false}
                nodesConnectable={false}
                edgesFocusable={false}
                nodesFocusable
                elementsSelectable={false}
                onlyRenderVisibleElements={nodes.length > CULLED_FROM}
                minZoom={0.05}
                maxZoom={1.6}
                deleteKeyCode={null}
                disableKeyboardA11y={false}
                aria-label={`Lineage: ${counted(nodes.length, "node")}`}
            >
                <Background gap={24} />
                <Controls showInteractive={false} />
                <Framing isLaidOut={nodes.length > 0} root={rootId} count={nodes.length} />
            </ReactFlow>
        </Actions.Provider>
    );
}

/** Shows the whole picture when it appears or grows; a picture too large to be read like that, from its root. */
function Framing({ isLaidOut, root, count }: { isLaidOut: boolean; root: string; count: number }) {
    const { getNodesBounds, getNodes, getInternalNode, setCenter, fitView } = useReactFlow();
    const size = useStore(({ width, height }) => `${width} ${height}`);
    const framed = useRef("");
    useEffect(() => {
        const [width = 0, height = 0] = size.split(" ").map(Number);
        const key = `${root} ${count}`;
        if (!isLaidOut || root === "" || width === 0 || framed.current === key) return;
        framed.current = key;
        const duration = window.matchMedia("(prefers-reduced-motion: reduce)").matches ? 0 : 200;
        const bounds = getNodesBounds(getNodes());
        const node = getInternalNode(root);
        if (node && (bounds.width * READABLE > width || bounds.height * READABLE > height)) {
            const { x, y } = node.internals.positionAbsolute;
            void setCenter(x + CARD_WIDTH / 2, y + 40, { zoom: READABLE, duration });
        } else {
            void fitView({ padding: 0.08, maxZoom: 1, duration });
        }
    }, [isLaidOut, root, count, size, fitView, getNodesBounds, getNodes, getInternalNode, setCenter]);
    return null;
}

function labelOf(kind: string, namespace: string, name: string, state: string | undefined): string {
    return `${kind} ${name} in ${namespace}${state === undefined ? "" : `, ${state}`}`;
}

function flowEdge(link: PictureLink, isReversed: boolean): FlowEdge {
    const classes = [
        "flow",
        link.origin,
        link.label,
        link.onlyFailed && "failed",
        link.liveness,
        isReversed && "reversed",
    ];
    return {
        id: link.id,
        source: link.source,
        target: link.target,
        className: classes.filter(Boolean).join(" "),
        markerEnd: { type: MarkerType.ArrowClosed, width: 16, height: 16, color: "var(--line-strong)" },
        ...(link.label !== "current" && link.label !== "" ? { label: link.label } : {}),
    };
}

function tracedColumns(picture: Picture): ReadonlySet<string> {
    return new Set(
        picture.columns.flatMap((flow) => [
            columnKey({ node: flow.source, field: flow.sourceField }),
            columnKey({ node: flow.target, field: flow.targetField }),
        ]),
    );
}

/** Edges of the chosen column alone: those of all columns would hide everything. */
function columnEdges(
    picture: Picture,
    columns: ReadonlyMap<string, string[]>,
    related: ReadonlySet<string>,
): FlowEdge[] {
    const isShown = (node: string, field: string) =>
        columns.get(node)?.slice(0, COLUMNS_SHOWN).includes(field) ?? false;
    const found = picture.columns.filter(
        (flow) =>
            related.has(columnKey({ node: flow.source, field: flow.sourceField })) &&
            related.has(columnKey({ node: flow.target, field: flow.targetField })) &&
            isShown(flow.source, flow.sourceField) &&
            isShown(flow.target, flow.targetField),
    );
    const unique = new Map(
        found.map((flow) => [`${flow.source}:${flow.sourceField}>${flow.target}:${flow.targetField}`, flow]),
    );
    return [...unique].map(([id, flow]) => ({
        id: `column ${id}`,
        source: flow.source,
        target: flow.target,
        sourceHandle: `out:${flow.sourceField}`,
        targetHandle: `in:${flow.targetField}`,
        className: flow.masked ? "column-edge masked" : "column-edge",
        zIndex: 5,
        ...(flow.masked ? { label: "masked" } : {}),
    }));
}
