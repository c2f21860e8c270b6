import { ViewLink } from "../address/history";
import { refOf } from "../address/nodes";
import { lineageOf } from "../address/view";
import type { Schemas } from "../api/client";
import { moment } from "../format/text";
import { FullName, Name } from "../parts/Name";
import { accessLeftOut } from "./access";
import { Jobs, Right } from "./AccessFacts";

/** Who may read and write each dataset of a trace, which jobs do, and what is not known. */
export function AccessTable({ answer }: { answer: Schemas["TraceAnswer"] }) {
    const nodes = new Map(answer.nodes.map((node) => [node.id, node]));
    return (
        <>
            <ul className="plain rows" aria-label="What is not known">
                {accessLeftOut(answer).map((sentence) => (
                    <li key={sentence}>{sentence}</li>
                ))}
            </ul>
            <p className="hint">
                By the rules (ACLs) that the systems have for their topics. Jobs may read and write as someone who is
                not observed.
            </p>
            <div className="table-frame" tabIndex={0} role="region" aria-label="Who can see it">
                <table className="trace">
                    <thead>
                        <tr>
                            <th scope="col">Dataset</th>
                            <th scope="col">May read</th>
                            <th scope="col">May write</th>
                            <th scope="col">Read by</th>
                            <th scope="col">Written by</th>
                            <th scope="col" title="When an observer reported the rights last">
                                Reported
                            </th>
                        </tr>
                    </thead>
                    <tbody>
                        {(answer.access ?? []).map((each) => {
                            const node = nodes.get(each.node);
                            return (
                                <tr key={each.node}>
                                    <td>
                                        {node && (
                                            <>
                                                <ViewLink to={lineageOf(refOf(node))}>
                                                    <b>
                                                        <Name text={node.name} />
                                                    </b>
                                                </ViewLink>
                                                <FullName {...node} />
                                            </>
                                        )}
                                    </td>
                                    {each.may_read ? (
                                        <>
                                            <td>
                                                <Right access={each} right="read" />
                                            </td>
                                            <td>
                                                <Right access={each} right="write" />
                                            </td>
                                        </>
                                    ) : (
                                        <td colSpan={2}>
                                            <Right access={each} right="read" />
                                        </td>
                                    )}
                                    <td>
                                        <Jobs jobs={each.readers} />
                                    </td>
                                    <td>
                                        <Jobs jobs={each.writers} />
                                    </td>
                                    <td>
                                        {each.observed ? moment(each.observed) : "—"}
                                        {each.cut && <span className="hint">not everybody is listed</span>}
                                    </td>
                                </tr>
                            );
                        })}
                    </tbody>
                </table>
            </div>
        </>
    );
}
