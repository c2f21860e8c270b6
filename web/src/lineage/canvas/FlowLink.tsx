import { BaseEdge, getBezierPath, Position, type EdgeProps } from "@xyflow/react";
import { memo } from "react";

import { ABOVE, curveOf, labelPlace, notchOf } from "../lines/geometry";
import type { LinkEdge } from "../picture/edges";
import { stuckWords } from "../pulse/lag";
import { useFlow } from "../pulse/store";

const POINT = { width: 0, height: 0 };

/** A link of the graph; with the pulse on, as wide as much flows. */
export const FlowLink = memo(function FlowLink(props: EdgeProps<LinkEdge>) {
    const [path] = getBezierPath(props);
    const flow = useFlow(props.id);
    const { id, markerEnd, sourceX, sourceY, targetX, targetY, data } = props;
    const label = flow && flow.label !== "" ? flow.label : props.label;
    const isDown = props.sourcePosition === Position.Bottom;
    const curve = curveOf({ x: sourceX, y: sourceY, ...POINT }, { x: targetX, y: targetY, ...POINT }, isDown);
    const labelled = labelPlace(curve, isDown, data?.gap);
    const [from, to] = notchOf(labelled, flow?.width ?? 0, isDown);
    return (
        <g className={flow ? `pulse ${flow.tone}` : undefined}>
            <BaseEdge
                id={id}
                path={path}
                {...(markerEnd === undefined ? {} : { markerEnd })}
                {...(flow ? { style: { strokeWidth: flow.width } } : {})}
                label={label}
                labelX={labelled.x}
                labelY={flow ? labelled.y - ABOVE : labelled.y}
                labelBgPadding={[6, 3]}
                labelBgBorderRadius={6}
            />
            {flow?.lag?.stuck && (
                <path className="notch" d={`M${from.x} ${from.y}L${to.x} ${to.y}`}>
                    <title>{stuckWords(flow.lag.stuck)}</title>
                </path>
            )}
        </g>
    );
});
