import type { UseQueryResult } from "@tanstack/react-query";
import type { ReactNode } from "react";

import { ViewLink } from "../address/history";
import type { View } from "../address/view";
import { Problem } from "../api/client";
import { whole } from "../format/text";
import { Icon } from "../parts/Icon";

interface GroupProps {
    title: string;
    count: number;
    /** The list of all of them. */
    to?: View;
    children: ReactNode;
}

/** One card: how many there are of what it is about, and the first of them. */
export function Group({ title, count, to, children }: GroupProps) {
    return (
        <article className={count > 0 ? "card" : "card calm"}>
            <h3>
                {count > 0 ? <span className="count">{whole(count)}</span> : <Icon name="check" />}
                {to ? <ViewLink to={to}>{title}</ViewLink> : title}
            </h3>
            {children}
        </article>
    );
}

/** A group that a question of its own answers. Who may not ask it sees which scope is missing. */
export function Asked<T>({
    query,
    title,
    children,
}: {
    query: UseQueryResult<T>;
    title: string;
    children: (data: T) => ReactNode;
}) {
    if (query.data !== undefined) return children(query.data);
    if (!query.error) return null;
    if (query.error instanceof Problem && query.error.code === "limited") return null;
    return (
        <article className="card calm">
            <h3>
                <Icon name="question" />
                {title}
            </h3>
            <p className="hint">{query.error.message}</p>
        </article>
    );
}
