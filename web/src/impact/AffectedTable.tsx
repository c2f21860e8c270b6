import { useState } from "react";

import { ViewLink } from "../address/history";
import { refOf } from "../address/nodes";
import { lineageOf, type NodeRef } from "../address/view";
import { ago, counted, visible, whole } from "../format/text";
import { FullName, Name } from "../parts/Name";
import { useNow } from "../parts/useNow";
import type { Affected, Group } from "./picture";
import type { Way } from "./ways";

const PAGE = 200;
const KNOWN: Readonly<Record<string, string>> = {
    observed: "seen in runs",
    declared: "declared",
    inferred: "inferred",
};

interface Props {
    groups: readonly Group[];
    /** What a group without a word is called; empty where there are no groups. */
    otherwise: string;
    /** The only node that the question is about; undefined for several. */
    root: NodeRef | undefined;
    isDown: boolean;
    lit: readonly string[];
    wayTo: (id: string) => Way | undefined;
    /** Light the way to a row while it is looked at; to none with an empty id. */
    look: (id: string) => void;
    /** Keep the way to a row lit, or no longer. */
    keep: (id: string) => void;
}

/** The rows of a blast radius, in groups. */
export function AffectedTable({ groups, otherwise, root, isDown, lit, wayTo, look, keep }: Props) {
    const now = useNow();
    const [most, setMost] = useState(PAGE);
    const shown = firstOf(groups, most);
    const left = groups.reduce((sum, { items }) => sum + items.length, 0) - most;
    const row = (item: Affected) => {
        const { node, distance, paths, extent, only_failed: isFailed, details } = item;
        const ref = refOf(node);
        return (
            <tr
                key={node.id}
                className={lit.includes(node.id) ? "lit" : undefined}
                onMouseEnter={() => look(node.id)}
                onMouseLeave={() => look("")}
                onFocus={() => look(node.id)}
                onBlur={() => look("")}
            >
                <th scope="row">
                    <ViewLink to={lineageOf(ref)}>
                        <FullName {...node} />
                    </ViewLink>
                </th>
                <td>
                    {node.kind}
                    {node.dropped && ", dropped"}
                </td>
                <td>{details?.system}</td>
                <td>
                    {details?.owners?.map((owner) => (
                        <Name key={owner} text={owner} />
                    ))}
                </td>
                <td>
                    <Freshness details={details} now={now} />
                </td>
                <td>
                    {node.kind === "dataset" &&
                        (details?.last_read === undefined ? "not known" : ago(details.last_read, now))}
                </td>
                <td className="number">{distance}</td>
                <td className="number">{paths === undefined ? "" : whole(paths)}</td>
                <td>
                    {extent}
                    {isFailed && ", by failed runs only"}
                </td>
                <td>{KNOWN[wayTo(node.id)?.origin ?? ""]}</td>
                <td>
                    <button
                        type="button"
                        aria-pressed={lit.includes(node.id)}
                        aria-label={`Light the way to ${visible(node.name)}`}
                        onClick={() => keep(node.id)}
                    >
                        Light
                    </button>
                    {node.kind === "dataset" && root?.kind === "dataset" && (
                        <ViewLink
                            className="button"
                            to={{ page: "paths", source: isDown ? root : ref, target: isDown ? ref : root }}
                            aria-label={`Paths ${isDown ? "to" : "from"} ${node.name}`}
                        >
                            Paths
                        </ViewLink>
                    )}
                </td>
            </tr>
        );
    };
    return (
        <div className="table-frame" tabIndex={0} role="region" aria-label="Affected">
            <table>
                <thead>
                    <tr>
                        <th scope="col">Name</th>
                        <th scope="col">Kind</th>
                        <th scope="col">System</th>
                        <th scope="col">Owner</th>
                        <th scope="col">Freshness</th>
                        <th scope="col">Last read</th>
                        <th scope="col" className="number">
                            Hops
                        </th>
                        <th scope="col" className="number">
                            Paths
                        </th>
                        <th scope="col">How much of its data</th>
                        <th scope="col">Way known</th>
                        <th scope="col">Way</th>
                    </tr>
                </thead>
                {shown.map(({ word, items, datasets, jobs }) => (
                    <tbody key={word} aria-label={otherwise === "" ? undefined : word || otherwise}>
                        {otherwise !== "" && (
                            <tr className="group">
                                <th scope="rowgroup" colSpan={11}>
                                    {word === "" ? otherwise : <Name text={word} />}
                                    <small>
                                        {" "}
                                        {counted(datasets, "dataset")}, {counted(jobs, "job")}
                                    </small>
                                </th>
                            </tr>
                        )}
                        {items.map(row)}
                    </tbody>
                ))}
            </table>
            {left > 0 && (
                <button type="button" onClick={() => setMost(most + 5 * PAGE)}>
                    Show more: {whole(left)} are left
                </button>
            )}
        </div>
    );
}

/** What is promised of a dataset, and when it was written; of a job, when it last showed life. */
function Freshness({ details, now }: { details: Affected["details"]; now: number }) {
    const { freshness, last_written: written, last_seen: ran } = details ?? {};
    return (
        <>
            {freshness !== undefined && (
                <p>
                    promised: <Name text={freshness} />
                </p>
            )}
            {written !== undefined && `written ${ago(written, now)}`}
            {ran !== undefined && `ran ${ago(ran, now)}`}
        </>
    );
}

/** The groups of the first rows; the counts of each are of all its rows. */
function firstOf(groups: readonly Group[], most: number): Group[] {
    let left = most;
    return groups.flatMap((group) => {
        const items = group.items.slice(0, left);
        left -= items.length;
        return items.length > 0 ? [{ ...group, items }] : [];
    });
}
