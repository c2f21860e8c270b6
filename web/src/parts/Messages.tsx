import type { UseQueryResult } from "@tanstack/react-query";
import type { ReactNode } from "react";

import { ViewLink } from "../address/history";
import { lineageOf, type Kind } from "../address/view";
import { Problem } from "../api/client";
import { sentence } from "../format/text";
import { Icon } from "./Icon";
import { FullName, Name } from "./Name";

/** What a question answered, or why there is no answer yet. An old answer stays while a newer one cannot be had, and says so. */
export function Answer<T>({
    query,
    kind,
    children,
}: {
    query: UseQueryResult<T>;
    kind?: Kind;
    children: (data: T) => ReactNode;
}) {
    if (query.data !== undefined) {
        return (
            <>
                {query.error && <Stale problem={query.error} since={query.dataUpdatedAt} />}
                {children(query.data)}
            </>
        );
    }
    if (query.error)
        return <Failure problem={query.error} kind={kind ?? "dataset"} retry={() => void query.refetch()} />;
    return <Loading />;
}

export function Loading() {
    return (
        <div className="loading" role="status">
            <span className="visually-hidden">Loading</span>
            <i />
            <i />
            <i />
        </div>
    );
}

export function Empty({ title, children }: { title: string; children?: ReactNode }) {
    return (
        <div className="empty">
            <strong>{title}</strong>
            {children}
        </div>
    );
}

function Stale({ problem, since }: { problem: Error; since: number }) {
    return (
        <p className="notice warn" role="status">
            <Icon name="warning" />
            <span>
                As of {new Date(since).toISOString().slice(11, 19)} UTC: {problem.message}.
            </span>
        </p>
    );
}

export function Failure({ problem, kind, retry }: { problem: Error; kind?: Kind; retry?: () => void }) {
    const { hint, near, code } = problem instanceof Problem ? problem : { hint: "", near: [], code: "" };
    return (
        <div className="notice bad" role="alert">
            <Icon name="warning" />
            <div>
                <strong>
                    <Name text={sentence(problem.message)} />
                </strong>
                {hint !== "" && code !== "not_found" && (
                    <p>
                        <Name text={sentence(hint)} />
                    </p>
                )}
                {near.length > 0 && (
                    <>
                        <p>Similar names:</p>
                        <ul className="plain">
                            {near.map((node) => (
                                <li key={`${node.namespace} ${node.name}`}>
                                    <ViewLink to={lineageOf({ kind: kind ?? "dataset", ...node })}>
                                        <FullName {...node} />
                                    </ViewLink>
                                </li>
                            ))}
                        </ul>
                    </>
                )}
                {retry && (
                    <button type="button" onClick={retry}>
                        Try again
                    </button>
                )}
            </div>
        </div>
    );
}
