import { useQuery } from "@tanstack/react-query";
import { useState } from "react";

import { show, ViewLink } from "../address/history";
import { refOf } from "../address/nodes";
import { ledgerOf, lineageOf, type ImpactView, type NodeRef } from "../address/view";
import type { Schemas } from "../api/client";
import { impact } from "../api/questions";
import { literal } from "../format/markdown";
import { counted, whole } from "../format/text";
import { CopyButton } from "../parts/CopyButton";
import { CsvButton } from "../parts/CsvButton";
import { DirectionSwitch } from "../parts/DirectionSwitch";
import { Icon } from "../parts/Icon";
import { Answer, Empty } from "../parts/Messages";
import { FullName } from "../parts/Name";

type Item = Schemas["AffectedNode"];
const PAGE = 200;

/** What a change of a node affects, or what it depends on: one list, and the same as CSV and as a note. */
export default function Impact({ view }: { view: ImpactView }) {
    const found = useQuery(impact(view));
    const isDown = view.direction === "downstream";
    return (
        <div className="column wide">
            <h1>
                {isDown ? "Blast radius of " : "What feeds "}
                <FullName {...view.root} />
            </h1>
            <div className="tools">
                <DirectionSwitch
                    direction={view.direction}
                    words={{ upstream: "depends on", downstream: "affects" }}
                    choose={(direction) => show({ ...view, direction })}
                />
                <ViewLink className="button" to={lineageOf(view.root)}>
                    <Icon name="graph" />
                    Graph
                </ViewLink>
                <ViewLink className="button" to={ledgerOf(view.root)}>
                    <Icon name="ledger" />
                    Ledger
                </ViewLink>
                {found.data && <CsvButton name="impact" rows={() => csvRows(found.data.affected)} />}
                {found.data && (
                    <CopyButton label="Copy as a note in Markdown" text={() => note(view, found.data)}>
                        Note
                    </CopyButton>
                )}
            </div>
            <Answer query={found} kind={view.root.kind}>
                {(answer) => (
                    <>
                        <Counts answer={answer} />
                        {answer.affected.length === 0 ? (
                            <Empty title={isDown ? "Nothing depends on it" : "It depends on nothing"}>
                                <p>As far as runs and declarations say.</p>
                            </Empty>
                        ) : (
                            <Affected key={view.direction} items={answer.affected} root={view.root} isDown={isDown} />
                        )}
                    </>
                )}
            </Answer>
        </div>
    );
}

function Counts({ answer }: { answer: Schemas["ImpactAnswer"] }) {
    const { counts, truncated, beyond, affected } = answer;
    const listed = counts.datasets + counts.jobs;
    return (
        <>
            <p className="figures">
                <span>
                    <b>{whole(counts.datasets)}</b> {counts.datasets === 1 ? "dataset" : "datasets"}
                </span>
                <span>
                    <b>{whole(counts.jobs)}</b> {counts.jobs === 1 ? "job" : "jobs"}
                </span>
                <span>
                    <b>{whole(counts.all)}</b> wholly
                </span>
                <span>
                    <b>{whole(counts.some)}</b> in part
                </span>
            </p>
            {beyond && (
                <p className="hint">
                    {counted(beyond.datasets, "dataset")} and {counted(beyond.jobs, "job")} more lie beyond what you may
                    see.
                </p>
            )}
            {truncated !== "" && (
                <p className="notice warn" role="status">
                    <Icon name="warning" />
                    The limit of {truncated} ended the search: there is more.
                </p>
            )}
            {affected.length < listed && (
                <p className="notice warn" role="status">
                    <Icon name="warning" />
                    The nearest {whole(affected.length)} of {whole(listed)} are listed; the API gives the rest.
                </p>
            )}
        </>
    );
}

function Affected({ items, root, isDown }: { items: Item[]; root: NodeRef; isDown: boolean }) {
    const [shown, setShown] = useState(PAGE);
    return (
        <div className="table-frame" tabIndex={0} role="region" aria-label="Affected">
            <table>
                <thead>
                    <tr>
                        <th scope="col">Name</th>
                        <th scope="col">Kind</th>
                        <th scope="col" className="number">
                            Hops
                        </th>
                        <th scope="col" className="number">
                            Paths
                        </th>
                        <th scope="col">How much of its data</th>
                        <th scope="col">Way</th>
                    </tr>
                </thead>
                <tbody>
                    {items.slice(0, shown).map(({ node, distance, paths, extent, only_failed: isFailed }) => {
                        const ref = refOf(node);
                        return (
                            <tr key={node.id}>
                                <th scope="row">
                                    <ViewLink to={lineageOf(ref)}>
                                        <FullName {...node} />
                                    </ViewLink>
                                </th>
                                <td>
                                    {node.kind}
                                    {node.dropped && ", dropped"}
                                </td>
                                <td className="number">{distance}</td>
                                <td className="number">{paths === undefined ? "" : whole(paths)}</td>
                                <td>
                                    {extent}
                                    {isFailed && ", by failed runs only"}
                                </td>
                                <td>
                                    {node.kind === "dataset" && root.kind === "dataset" && (
                                        <ViewLink
                                            className="button"
                                            to={{
                                                page: "paths",
                                                source: isDown ? root : ref,
                                                target: isDown ? ref : root,
                                            }}
                                            aria-label={`Paths ${isDown ? "to" : "from"} ${node.name}`}
                                        >
                                            Paths
                                        </ViewLink>
                                    )}
                                </td>
                            </tr>
                        );
                    })}
                </tbody>
            </table>
            {shown < items.length && (
                <button type="button" onClick={() => setShown(shown + 5 * PAGE)}>
                    Show more: {whole(items.length - shown)} are left
                </button>
            )}
        </div>
    );
}

function csvRows(items: Item[]): (string | number | undefined)[][] {
    return [
        ["kind", "namespace", "name", "distance", "paths", "extent"],
        ...items.map(({ node, distance, paths, extent }) => [
            node.kind,
            node.namespace,
            node.name,
            distance,
            paths,
            extent,
        ]),
    ];
}

/** The answer for a chat or a ticket, with the link to it. */
function note(view: ImpactView, answer: Schemas["ImpactAnswer"]): string {
    const { counts, affected } = answer;
    return [
        `**${view.direction === "downstream" ? "Blast radius of" : "What feeds"}** ${literal(view.root.name)} in ${literal(view.root.namespace)}`,
        `${counted(counts.datasets, "dataset")}, ${counted(counts.jobs, "job")}; as of ${new Date().toISOString()}`,
        ...affected
            .filter(({ node }) => node.kind === "dataset")
            .map(({ node, distance }) => `- ${literal(node.name)}, ${counted(distance, "hop")}`),
        window.location.href,
        "",
    ].join("\n");
}
