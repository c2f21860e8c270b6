import { ViewLink } from "../address/history";
import { refOf } from "../address/nodes";
import { traceOf, type TraceView } from "../address/trace";
import type { Schemas } from "../api/client";
import { Icon } from "../parts/Icon";
import { Name } from "../parts/Name";
import { suggestionsCut } from "./suggestions";

type Trace = Schemas["TraceAnswer"];

/** The flows without column evidence and, if they were asked for, the columns of the same name behind them. */
export function Gaps({ answer, direction }: { answer: Trace; direction: TraceView["direction"] }) {
    const nodes = new Map(answer.nodes.map((node) => [node.id, node]));
    const { gaps } = answer.coverage;
    if (gaps.length === 0) return null;
    return (
        <>
            <section aria-labelledby="gaps">
                <h2 id="gaps">Flows without column evidence</h2>
                <ul className="plain rows">
                    {gaps.map((gap) => (
                        <li key={`${gap.source} ${gap.target} ${gap.job}`}>
                            <Name text={nodes.get(gap.source)?.name ?? ""} /> <Icon name="downstream" />{" "}
                            <Name text={nodes.get(gap.target)?.name ?? ""} />
                            <span className="hint">
                                through <Name text={nodes.get(gap.job)?.name ?? ""} />, {gap.origin}, {gap.evidence}
                            </span>
                        </li>
                    ))}
                </ul>
            </section>
            {answer.suggestions && <Suggestions answer={answer} found={answer.suggestions} direction={direction} />}
        </>
    );
}

function Suggestions({
    answer,
    found,
    direction,
}: {
    answer: Trace;
    found: Schemas["TraceSuggestions"];
    direction: TraceView["direction"];
}) {
    const nodes = new Map(answer.nodes.map((node) => [node.id, node]));
    return (
        <section aria-labelledby="suggestions">
            <h2 id="suggestions">Columns of the same name behind them</h2>
            <p className="hint">
                {found.items.length === 0
                    ? "None is known."
                    : "Suggestions, no facts: nobody states that the values flow there, and they are in no count and no digest."}{" "}
                {suggestionsCut(found)}
            </p>
            <ul className="plain suggestions">
                {found.items.map((item) => {
                    const node = nodes.get(item.node);
                    return (
                        <li key={`${item.near} ${item.near_field} ${item.node} ${item.field}`}>
                            <span className="evidence">same name, no evidence</span>
                            <span>
                                <Name text={item.near_field} /> of <Name text={nodes.get(item.near)?.name ?? ""} />
                            </span>
                            <span aria-hidden="true">~</span>
                            <span>
                                {node && (
                                    <ViewLink
                                        to={traceOf(refOf(node), item.field, direction)}
                                        title="A trace of its own, from this column on"
                                    >
                                        <Name text={item.field} />
                                    </ViewLink>
                                )}{" "}
                                of <Name text={node?.name ?? ""} />
                            </span>
                        </li>
                    );
                })}
            </ul>
        </section>
    );
}
