import {
    BaseEdge,
    Background,
    Controls,
    Handle,
    MarkerType,
    Position,
    ReactFlow,
    useReactFlow,
    useStore,
} from "@xyflow/react";
import type { Edge, EdgeProps, Node as FlowNode, NodeHandle, NodeProps } from "@xyflow/react";
import "@xyflow/react/dist/style.css";
import { memo, useEffect, useMemo } from "react";

import { useLayout } from "../graph/useLayout";
import { counted } from "../format/text";
import { Icon } from "../parts/Icon";
import { ShortName } from "../parts/Name";
import { flowWidth, flowWords, iconOfSystem, jobWords, labelOf, type EstateItem } from "./estate";

const WIDTH = 230;
/** Between ranks, so that there is room for how many jobs there are. */
const GAP = 150;
/** With more flows, only those of the selected node have words, which would hide each other. */
const LABELLED = 24;
const BACK = "back";

type EstateCardNode = FlowNode<{ item: EstateItem; isDown: boolean }, "estate">;

interface Props {
    items: readonly EstateItem[];
    selected: string;
    select: (id: string) => void;
}

/** The estate as a graph: to the right, or down where there is little room. Wider flows are of more jobs. */
export function EstateCanvas({ items, selected, select }: Props) {
    const isDown = useStore(({ width }) => width > 0 && width < 640);
    const boxes = useMemo(
        () => items.map((item) => ({ id: item.node.id, width: WIDTH, height: heightOf(item) })),
        [items],
    );
    const flows = useMemo(() => items.flatMap(({ to }) => to), [items]);
    const layout = useLayout(boxes, flows, isDown, isDown ? undefined : GAP);
    const nodes = useMemo(
        () =>
            items.flatMap((item, index): EstateCardNode[] => {
                const [at, box] = [layout?.positions[item.node.id], boxes[index]];
                if (!layout || !at || !box) return [];
                const size = { width: box.width, height: box.height };
                return [
                    {
                        id: item.node.id,
                        type: "estate",
                        position: at,
                        ...size,
                        measured: size,
                        handles: handlesOf(size, layout.down),
                        selected: item.node.id === selected,
                        ariaLabel: labelOf(item),
                        data: { item, isDown: layout.down },
                    },
                ];
            }),
        [items, layout, boxes, selected],
    );
    const edges = useMemo(() => {
        const back = new Set(layout?.reversed.map(({ source, target }) => `${source}>${target}`));
        const most = Math.max(...flows.map(({ jobs, direct }) => jobs + direct));
        const isCrowded = flows.length > LABELLED;
        const isNear = ({ source, target }: EstateItem["to"][number]) => source === selected || target === selected;
        // The flows of the selected node lie upon the others.
        const ordered = [...flows.filter((flow) => !isNear(flow)), ...flows.filter(isNear)];
        return layout ? ordered.map((flow) => edgeOf(flow, { isNear: isNear(flow), back, most, isCrowded })) : [];
    }, [layout, flows, selected]);
    return (
        <ReactFlow<EstateCardNode>
            className={layout?.down ? "canvas estate-canvas down" : "canvas estate-canvas"}
            nodes={nodes}
            edges={edges}
            nodeTypes={NODE_TYPES}
            edgeTypes={EDGE_TYPES}
            onNodeClick={(_, { id }) => select(id)}
            onPaneClick={() => select("")}
            nodesDraggable={false}
            nodesConnectable={false}
            edgesFocusable={false}
            nodesFocusable
            elementsSelectable={false}
            minZoom={0.05}
            maxZoom={1.6}
            deleteKeyCode={null}
            aria-label={`Estate: ${counted(nodes.length, "node")}, ${counted(flows.length, "flow")}`}
        >
            <Background gap={24} size={1.4} />
            <Controls showInteractive={false} />
            <Framing laidOut={layout ? items.map(({ node }) => node.id).join(" ") : ""} />
        </ReactFlow>
    );
}

const EstateCard = memo(function EstateCard({ data: { item, isDown }, selected }: NodeProps<EstateCardNode>) {
    return (
        <div className={selected ? "node dataset chosen" : "node dataset"}>
            <Handle type="target" position={isDown ? Position.Top : Position.Left} isConnectable={false} />
            <Handle type="source" position={isDown ? Position.Bottom : Position.Right} isConnectable={false} />
            <Handle
                id={BACK}
                type="target"
                position={isDown ? Position.Right : Position.Bottom}
                isConnectable={false}
            />
            <Handle
                id={BACK}
                type="source"
                position={isDown ? Position.Right : Position.Bottom}
                isConnectable={false}
            />
            <div className="node-title">
                <span className="tile">
                    <Icon name={iconOfSystem(item.node.system)} />
                </span>
                <span className="words">
                    <ShortName text={item.title} most={64} />
                    <small>
                        {item.title !== item.node.system && item.node.system !== "" && (
                            <>
                                <ShortName text={item.node.system} most={24} /> ·{" "}
                            </>
                        )}
                        {counted(item.node.datasets, "dataset")}
                    </small>
                    {jobWords(item).map((words) => (
                        <small key={words}>{words}</small>
                    ))}
                </span>
            </div>
        </div>
    );
});

const NODE_TYPES = { estate: EstateCard };

/** Shows everything when it appears, when there is something else, or another room for it. */
function Framing({ laidOut }: { laidOut: string }) {
    const { fitView } = useReactFlow();
    const room = useStore(({ width, height }) => (width > 0 && height > 0 ? `${width} ${height}` : ""));
    useEffect(() => {
        if (laidOut !== "" && room !== "") void fitView({ padding: 0.08, maxZoom: 1.15 });
    }, [laidOut, room, fitView]);
    return null;
}

/** How tall a card is, without asking the browser. */
function heightOf(item: EstateItem): number {
    return 50 + 19 * (Math.min(3, Math.max(1, Math.ceil(item.title.length / 20))) + jobWords(item).length);
}

function handlesOf({ width, height }: { width: number; height: number }, isDown: boolean): NodeHandle[] {
    const none = { width: 0, height: 0 };
    const [below, beside] = [
        { position: Position.Bottom, x: width / 2, y: height, ...none },
        { position: Position.Right, x: width, y: height / 2, ...none },
    ];
    return isDown
        ? [
              { type: "target", position: Position.Top, x: width / 2, y: 0, ...none },
              { type: "source", ...below },
              { id: BACK, type: "target", ...beside },
              { id: BACK, type: "source", ...beside },
          ]
        : [
              { type: "target", position: Position.Left, x: 0, y: height / 2, ...none },
              { type: "source", ...beside },
              { id: BACK, type: "target", ...below },
              { id: BACK, type: "source", ...below },
          ];
}

interface EdgeLook {
    /** Whether it is of the selected node. */
    isNear: boolean;
    /** Ids of the flows that lead back. */
    back: ReadonlySet<string>;
    /** How many jobs the largest flow is of. */
    most: number;
    isCrowded: boolean;
}

function edgeOf(flow: EstateItem["to"][number], { isNear, back, most, isCrowded }: EdgeLook): Edge {
    const id = `${flow.source}>${flow.target}`;
    const colour = isNear ? "var(--accent)" : back.has(id) ? "var(--job)" : "var(--line-strong)";
    return {
        id,
        type: back.has(id) ? BACK : "default",
        source: flow.source,
        target: flow.target,
        ...(back.has(id) ? { sourceHandle: BACK, targetHandle: BACK } : {}),
        className: flow.jobs === 0 ? "flow declared" : "flow",
        ...(isCrowded && !isNear ? {} : { label: flowWords(flow) }),
        labelBgPadding: [6, 3],
        labelBgBorderRadius: 6,
        style: { strokeWidth: flowWidth(flow, most), stroke: colour },
        markerEnd: {
            type: MarkerType.ArrowClosed,
            width: 15,
            height: 15,
            color: colour,
            markerUnits: "userSpaceOnUse",
        },
    };
}

/** A flow that leads back: around the cards, not through them. */
function BackEdge({ sourceX, sourceY, targetX, targetY, sourcePosition, label, style, markerEnd }: EdgeProps) {
    const isBeside = sourcePosition === Position.Right;
    const depth = 46 + Math.abs(isBeside ? sourceY - targetY : sourceX - targetX) / 9;
    const far = isBeside ? Math.max(sourceX, targetX) + depth : Math.max(sourceY, targetY) + depth;
    const path = isBeside
        ? `M${sourceX},${sourceY} C${far},${sourceY} ${far},${targetY} ${targetX},${targetY}`
        : `M${sourceX},${sourceY} C${sourceX},${far} ${targetX},${far} ${targetX},${targetY}`;
    const [x, y] = [
        (sourceX + targetX) / 8 + (isBeside ? far : (sourceX + targetX) / 2) * 0.75,
        (sourceY + targetY) / 8 + (isBeside ? (sourceY + targetY) / 2 : far) * 0.75,
    ];
    return (
        <BaseEdge
            path={path}
            labelX={x}
            labelY={y}
            label={label}
            labelBgPadding={[6, 3]}
            labelBgBorderRadius={6}
            {...(style ? { style } : {})}
            {...(markerEnd === undefined ? {} : { markerEnd })}
        />
    );
}

const EDGE_TYPES = { [BACK]: BackEdge };
