import type { TraceView } from "../address/trace";
import type { Schemas } from "../api/client";
import { counted, whole } from "../format/text";

type Trace = Schemas["TraceAnswer"];

/** How many of the flows on the way have column evidence, without a full stop; where there is no flow at all, that nothing leads there. */
export function coverageWords({ coverage: { told, untold } }: Trace, direction: TraceView["direction"]): string {
    const flows = told + untold;
    if (flows > 0)
        return `${whole(told)} of ${counted(flows, "flow")} on the way ${flows === 1 ? "has" : "have"} column evidence`;
    return direction === "upstream" ? "No flow is known that leads here" : "No flow is known that leads on from here";
}
