import { useQuery } from "@tanstack/react-query";
import { Fragment } from "react";

import { show, ViewLink } from "../address/history";
import { refOf } from "../address/nodes";
import { impactOf } from "../address/impact";
import { lineageOf, type Direction, type NodeRef, type PathsView } from "../address/view";
import type { Schemas } from "../api/client";
import { pathsBetween, reachOf } from "../api/reach";
import { counted } from "../format/text";
import { Icon } from "../parts/Icon";
import { Answer, Empty } from "../parts/Messages";
import { FullName, Name } from "../parts/Name";

/** The ways that data takes from one node to another. */
export default function Paths({ view }: { view: PathsView }) {
    const found = useQuery(pathsBetween(view));
    return (
        <div className="column wide">
            <h1>
                From <FullName {...view.source} /> to <FullName {...view.target} />
            </h1>
            <p className="tools">
                <button type="button" onClick={() => show({ ...view, source: view.target, target: view.source })}>
                    <Icon name="upstream" />
                    The other direction
                </button>
            </p>
            <Answer query={found}>
                {({ paths, more, truncated }) =>
                    paths.length === 0 ? (
                        <Empty title="No data is known to go that way">
                            <Reach node={view.source} direction="downstream" />
                            <Reach node={view.target} direction="upstream" />
                            <p>Paths follow the data; the other direction may have one.</p>
                        </Empty>
                    ) : (
                        <>
                            <p className="hint">
                                {counted(paths.length, "path")}, the shortest first
                                {(more || truncated !== "") && "; there are others"}
                            </p>
                            <ol className="plain paths">
                                {paths.map((path, index) => (
                                    <li key={index}>
                                        {path.nodes.map((node, step) => (
                                            <Fragment key={node.id}>
                                                {step > 0 && (
                                                    <span className="step">
                                                        {path.jobs[step - 1]?.map((job) => (
                                                            <PathNode key={job.id} node={job} />
                                                        ))}
                                                        <Icon name="downstream" />
                                                    </span>
                                                )}
                                                <PathNode node={node} />
                                            </Fragment>
                                        ))}
                                    </li>
                                ))}
                            </ol>
                        </>
                    )
                }
            </Answer>
        </div>
    );
}

/** How far one side of a path that is not there reaches. */
function Reach({ node, direction }: { node: NodeRef; direction: Direction }) {
    const { data } = useQuery(reachOf(node, direction));
    if (!data) return null;
    const verb = direction === "downstream" ? "leads to" : "comes from";
    return (
        <p>
            <Name text={node.name} /> {verb}{" "}
            <ViewLink to={{ ...impactOf(node), direction }}>
                {counted(data.datasets, "dataset")} and {counted(data.jobs, "job")}
            </ViewLink>
            .
        </p>
    );
}

function PathNode({ node }: { node: Schemas["GraphNode"] }) {
    return (
        <ViewLink to={lineageOf(refOf(node))} className={`path-node ${node.kind}`}>
            <FullName {...node} />
        </ViewLink>
    );
}
