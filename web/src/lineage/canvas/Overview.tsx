import { Panel, useReactFlow, useStore } from "@xyflow/react";
import { memo, useMemo, type PointerEvent } from "react";

import { boundsOf, outline, type Rectangle } from "../picture/rectangles";
import type { CardNode } from "./NodeCard";

const [WIDTH, HEIGHT] = [200, 150];
const MARGIN = 0.08;

/**
 * The whole picture, small, with what is in sight of it. A press or a drag moves there. All cards are one path, so that moving the picture
 * renders no part for each of them.
 */
export const Overview = memo(function Overview({ nodes, rootId }: { nodes: readonly CardNode[]; rootId: string }) {
    const { setCenter, zoomIn, zoomOut } = useReactFlow();
    const [left, top, scale] = useStore(({ transform }) => transform);
    const width = useStore((state) => state.width);
    const height = useStore((state) => state.height);
    const cards = useMemo(() => nodes.map(boxOf), [nodes]);
    const all = useMemo(() => outline(cards), [cards]);
    const root = useMemo(() => outline(nodes.filter(({ id }) => id === rootId).map(boxOf)), [nodes, rootId]);
    const inSight: Rectangle = { x: -left / scale, y: -top / scale, width: width / scale, height: height / scale };
    const shown = boundsOf([...cards, inSight], MARGIN);
    const { x, y } = shown;
    const move = (event: PointerEvent<SVGSVGElement>) => {
        if (event.buttons !== 1) return;
        event.currentTarget.setPointerCapture(event.pointerId);
        const matrix = event.currentTarget.getScreenCTM();
        if (!matrix) return;
        const to = new DOMPoint(event.clientX, event.clientY).matrixTransform(matrix.inverse());
        void setCenter(to.x, to.y, { zoom: scale });
    };
    return (
        <Panel position="bottom-right" className="overview">
            <svg
                width={WIDTH}
                height={HEIGHT}
                viewBox={`${x} ${y} ${shown.width} ${shown.height}`}
                role="img"
                aria-label="Map of the whole picture"
                onPointerDown={move}
                onPointerMove={move}
                onWheel={({ deltaY }) => void (deltaY < 0 ? zoomIn() : zoomOut())}
            >
                <path className="cards" d={all} />
                <path className="root" d={root} />
                <path className="out" fillRule="evenodd" d={outline([boundsOf([shown], 1), inSight])} />
            </svg>
        </Panel>
    );
});

function boxOf({ position, width = 0, height = 0 }: CardNode): Rectangle {
    return { ...position, width, height };
}
