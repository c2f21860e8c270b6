import { Background, Controls, getNodesBounds, ReactFlow, useReactFlow, useStore, useStoreApi } from "@xyflow/react";
import type { Edge } from "@xyflow/react";
import "@xyflow/react/dist/style.css";
import { useEffect, useRef, useState } from "react";

import { counted } from "../../format/text";
import { frameOf } from "../../graph/frame";
import type { Size } from "../../graph/useSize";
import { FlowLink } from "./FlowLink";
import { Legend } from "./Legend";
import { LineCanvas } from "../lines/LineCanvas";
import type { Line } from "../lines/paint";
import { NodeCard, type CardNode } from "./NodeCard";
import { Overview } from "./Overview";
import type { Picture, PictureNode } from "../picture/picture";

const MAPPED_FROM = 16;
/** The least scale at which the names of a whole picture can be read: the further away, the larger they are written. */
const READABLE = 0.4;
const CLOSE = 0.72;
const FAR = 0.54;
const LIMITS = { least: READABLE, most: 1.15, close: CLOSE };
/** What cannot be done to a card. The store of a graph would begin with the opposite, and draw every card again when it learns it. */
const FIXED = { nodesDraggable: false, nodesConnectable: false, elementsSelectable: false };
const NODE_TYPES = { card: NodeCard };
const EDGE_TYPES = { link: FlowLink };

interface Props {
    nodes: CardNode[];
    edges: Edge[];
    /** The links of a large picture, which are painted. */
    lines: readonly Line[];
    picture: Picture;
    rootId: string;
    isLarge: boolean;
    isDown: boolean;
    /** Ranks are further apart than usual. */
    isWide: boolean;
    isCyclic: boolean;
    size: Size;
    select: (id: string) => void;
    pick: (node: PictureNode) => void;
}

/**
 * A picture whose nodes have their places, within the store of a graph that was made with them: what is in sight at first is known
 * before anything is drawn, so that it is drawn once.
 */
export function Drawing(props: Props) {
    const { nodes, edges, lines, picture, rootId, isLarge, isDown, isWide, isCyclic, size, select, pick } = props;
    const store = useStoreApi();
    const [first] = useState(() => {
        const viewport = frame(nodes, rootId, size);
        store.setState({ transform: [viewport.x, viewport.y, viewport.zoom], ...FIXED });
        return viewport;
    });
    const distance = useStore(({ transform: [, , scale] }) =>
        scale < FAR ? "far farther" : scale < CLOSE ? "far" : "",
    );
    return (
        <ReactFlow<CardNode>
            className={["canvas", distance, isDown && "down"].filter(Boolean).join(" ")}
            defaultViewport={first}
            nodes={nodes}
            edges={edges}
            nodeTypes={NODE_TYPES}
            edgeTypes={EDGE_TYPES}
            onNodeClick={(event, { id, data }) =>
                event.shiftKey || event.ctrlKey || event.metaKey ? pick(data.node) : select(id)
            }
            onPaneClick={() => select("")}
            {...FIXED}
            edgesFocusable={false}
            nodesFocusable
            onlyRenderVisibleElements={isLarge}
            minZoom={0.05}
            maxZoom={1.6}
            deleteKeyCode={null}
            selectionKeyCode={null}
            multiSelectionKeyCode={null}
            panActivationKeyCode={null}
            disableKeyboardA11y={false}
            aria-label={`Lineage: ${counted(nodes.length, "node")}`}
        >
            <Background gap={24} size={1.4} />
            {isLarge && <LineCanvas lines={lines} distance={distance} />}
            <Controls showInteractive={false} />
            {nodes.length >= MAPPED_FROM && !isDown && <Overview nodes={nodes} rootId={rootId} />}
            <Legend picture={picture} isCyclic={isCyclic} />
            <Framing laidOut={`${rootId} ${nodes.length} ${isDown} ${isWide}`} root={rootId} />
        </ReactFlow>
    );
}

function frame(nodes: readonly CardNode[], rootId: string, size: Size) {
    const bounds = getNodesBounds([...nodes]);
    const root = nodes.find(({ id }) => id === rootId);
    return frameOf(bounds, root ? getNodesBounds([root]) : bounds, size, LIMITS);
}

/** Shows the whole picture when it grows or spreads; one too large to be read like that, from its root. */
function Framing({ laidOut, root }: { laidOut: string; root: string }) {
    const { getNodes, setViewport } = useReactFlow<CardNode>();
    const width = useStore((state) => state.width);
    const height = useStore((state) => state.height);
    const framed = useRef(laidOut);
    useEffect(() => {
        if (width === 0 || framed.current === laidOut) return;
        framed.current = laidOut;
        const isCalm = window.matchMedia("(prefers-reduced-motion: reduce)").matches;
        void setViewport(frame(getNodes(), root, { width, height }), { duration: isCalm ? 0 : 200 });
    }, [laidOut, root, width, height, setViewport, getNodes]);
    return null;
}
