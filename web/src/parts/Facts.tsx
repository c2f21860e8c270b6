import { Fragment, type ReactNode } from "react";

import { Name } from "./Name";

/** What is known of one thing, each with its name; what is undefined or empty is left out. */
export function Facts({ of }: { of: readonly (readonly [string, ReactNode])[] }) {
    return (
        <dl className="facts">
            {of
                .filter(([, value]) => value !== undefined && value !== null && value !== "" && value !== false)
                .map(([name, value]) => (
                    <Fragment key={name}>
                        <dt>{name}</dt>
                        <dd>{typeof value === "string" ? <Name text={value} /> : value}</dd>
                    </Fragment>
                ))}
        </dl>
    );
}

/** Settings as they were given: a server shows references in the place of secrets. */
export function Settings({ settings }: { settings: unknown }) {
    const entries = Object.entries(settings ?? {}).sort(([a], [b]) => (a < b ? -1 : 1));
    return (
        <Facts of={entries.map(([name, value]) => [name, typeof value === "string" ? value : JSON.stringify(value)])} />
    );
}
