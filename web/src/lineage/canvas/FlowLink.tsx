import { BaseEdge, getBezierPath, type EdgeProps } from "@xyflow/react";
import { memo } from "react";

import { useFlow } from "../pulse/store";

/** How far above the link its rate stands, in pixels: its width shows how much flows, too. */
const ABOVE = 14;

/** A link of the graph; with the pulse on, as wide as much flows. */
export const FlowLink = memo(function FlowLink(props: EdgeProps) {
    const [path, labelX, labelY] = getBezierPath(props);
    const flow = useFlow(props.id);
    const { id, markerEnd } = props;
    const label = flow && flow.label !== "" ? flow.label : props.label;
    return (
        <g className={flow ? `pulse ${flow.tone}` : undefined}>
            <BaseEdge
                id={id}
                path={path}
                {...(markerEnd === undefined ? {} : { markerEnd })}
                {...(flow ? { style: { strokeWidth: flow.width } } : {})}
                label={label}
                labelX={labelX}
                labelY={flow ? labelY - ABOVE : labelY}
                labelBgPadding={[6, 3]}
                labelBgBorderRadius={6}
            />
        </g>
    );
});
