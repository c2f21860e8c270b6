import { Background, Controls, Handle, MarkerType, Position, ReactFlow, useReactFlow, useStore } from "@xyflow/react";
import type { Edge, Node as FlowNode, NodeProps } from "@xyflow/react";
import "@xyflow/react/dist/style.css";
import { memo, useEffect, useMemo } from "react";

import { useLayout } from "../graph/useLayout";
import { counted } from "../format/text";
import { Icon } from "../parts/Icon";
import { ShortName } from "../parts/Name";
import { flowWidth, flowWords, iconOfSystem, jobWords, type EstateItem } from "./estate";

const WIDTH = 230;
/** Between ranks, so that there is room for how many jobs there are. */
const GAP = 150;

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
                        ariaLabel: [
                            item.title,
                            item.node.system,
                            counted(item.node.datasets, "dataset"),
                            ...jobWords(item),
                        ].join(", "),
                        data: { item, isDown: layout.down },
                    },
                ];
            }),
        [items, layout, boxes, selected],
    );
    const edges = useMemo(() => (layout ? flows.map((flow) => edgeOf(flow, selected)) : []), [layout, flows, selected]);
    return (
        <ReactFlow<EstateCardNode>
            className={layout?.down ? "canvas estate-canvas down" : "canvas estate-canvas"}
            nodes={nodes}
            edges={edges}
            nodeTypes={NODE_TYPES}
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
            <div className="node-title">
                <span className="tile">
                    <Icon name={iconOfSystem(item.node.system)} />
                </span>
                <span className="words">
                    <ShortName text={item.title} most={64} />
                    <small>
                        {[
                            item.title === item.node.system ? "" : item.node.system,
                            counted(item.node.datasets, "dataset"),
                        ]
                            .filter(Boolean)
                            .join(" · ")}
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

/** Shows everything when it appears, or when there is something else. */
function Framing({ laidOut }: { laidOut: string }) {
    const { fitView } = useReactFlow();
    const isSized = useStore(({ width, height }) => width > 0 && height > 0);
    useEffect(() => {
        if (laidOut !== "" && isSized) void fitView({ padding: 0.08, maxZoom: 1.15 });
    }, [laidOut, isSized, fitView]);
    return null;
}

/** How tall a card is, without asking the browser. */
function heightOf(item: EstateItem): number {
    return 50 + 19 * (Math.min(3, Math.max(1, Math.ceil(item.title.length / 20))) + jobWords(item).length);
}

function handlesOf({ width, height }: { width: number; height: number }, isDown: boolean) {
    const none = { width: 0, height: 0 };
    return isDown
        ? [
              { type: "target" as const, position: Position.Top, x: width / 2, y: 0, ...none },
              { type: "source" as const, position: Position.Bottom, x: width / 2, y: height, ...none },
          ]
        : [
              { type: "target" as const, position: Position.Left, x: 0, y: height / 2, ...none },
              { type: "source" as const, position: Position.Right, x: width, y: height / 2, ...none },
          ];
}

function edgeOf(flow: EstateItem["to"][number], selected: string): Edge {
    const isNear = flow.source === selected || flow.target === selected;
    const colour = isNear ? "var(--accent)" : "var(--line-strong)";
    return {
        id: `${flow.source}>${flow.target}`,
        source: flow.source,
        target: flow.target,
        className: flow.jobs === 0 ? "flow declared" : "flow",
        label: flowWords(flow),
        labelBgPadding: [6, 3],
        labelBgBorderRadius: 6,
        style: { strokeWidth: flowWidth(flow), stroke: colour },
        markerEnd: {
            type: MarkerType.ArrowClosed,
            width: 15,
            height: 15,
            color: colour,
            markerUnits: "userSpaceOnUse",
        },
    };
}
