import { BaseEdge, getBezierPath, type EdgeProps } from "@xyflow/react";
import { memo } from "react";

/** A link of the graph. */
export const FlowLink = memo(function FlowLink(props: EdgeProps) {
    const [path, labelX, labelY] = getBezierPath(props);
    const { id, markerEnd, label } = props;
    return (
        <BaseEdge
            id={id}
            path={path}
            {...(markerEnd === undefined ? {} : { markerEnd })}
            label={label}
            labelX={labelX}
            labelY={labelY}
            labelBgPadding={[6, 3]}
            labelBgBorderRadius={6}
        />
    );
});
