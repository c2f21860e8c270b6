import { ViewLink } from "../address/history";
import { refOf } from "../address/nodes";
import { lineageOf } from "../address/view";
import type { Schemas } from "../api/client";
import { moment } from "../format/text";
import { Icon } from "../parts/Icon";
import { Empty } from "../parts/Messages";
import { FullName, Name } from "../parts/Name";
import { columnsOf, heldBy, leftOut, whyLeftOut } from "./held";
import { keptOf } from "./kept";

/** The datasets that hold the values of a trace, as for a request to delete them; and those that do not, with the reason. */
export function HeldTable({ answer }: { answer: Schemas["TraceAnswer"] }) {
    const nodes = new Map(answer.nodes.map((node) => [node.id, node]));
    const kept = keptOf(answer);
    const { holding, others } = heldBy(answer);
    const dataset = (id: string) => {
        const node = nodes.get(id);
        if (!node) return null;
        return (
            <>
                <ViewLink to={lineageOf(refOf(node))}>
                    <b>
                        <Name text={node.name} />
                    </b>
                </ViewLink>
                <FullName {...node} />
            </>
        );
    };
    return (
        <>
            <ul className="plain rows" aria-label="Left out">
                {leftOut(answer).map((sentence) => (
                    <li key={sentence}>{sentence}</li>
                ))}
            </ul>
            {holding.length === 0 ? (
                <Empty title="No dataset is known that holds the value" />
            ) : (
                <div className="table-frame" tabIndex={0} role="region" aria-label="Where it is">
                    <table className="trace">
                        <thead>
                            <tr>
                                <th scope="col">System</th>
                                <th scope="col">Dataset</th>
                                <th scope="col">Columns</th>
                                <th scope="col">Owner</th>
                                <th scope="col">Kept</th>
                                <th scope="col">Last written</th>
                            </tr>
                        </thead>
                        <tbody>
                            {holding.map((each) => (
                                <tr key={each.node}>
                                    <td>
                                        <Name text={each.system} />
                                    </td>
                                    <td>{dataset(each.node)}</td>
                                    <td>
                                        <Name text={columnsOf(each)} />
                                    </td>
                                    <td>
                                        <Name text={kept(each.node)?.owner ?? "unknown"} />
                                    </td>
                                    <td>
                                        <Name text={kept(each.node)?.retention ?? "unknown"} />
                                    </td>
                                    <td>{each.last_written ? moment(each.last_written) : "not known"}</td>
                                </tr>
                            ))}
                        </tbody>
                    </table>
                </div>
            )}
            {others.length > 0 && (
                <section aria-labelledby="left-out">
                    <h2 id="left-out">Left out</h2>
                    <ul className="plain rows">
                        {others.map((each) => (
                            <li key={each.node}>
                                <Icon name={each.left_out === "masked" ? "shield" : "cross"} />
                                {dataset(each.node)} <span className="hint">{whyLeftOut(each)}</span>
                            </li>
                        ))}
                    </ul>
                </section>
            )}
        </>
    );
}
