import { useQuery } from "@tanstack/react-query";

import { ViewLink } from "../../address/history";
import { workOf, type WorkView } from "../../address/work";
import { target, targets, type Target as Item } from "../../api/lists";
import { duration, whole } from "../../format/text";
import { Facts, Settings } from "../../parts/Facts";
import { Answer } from "../../parts/Messages";
import { Name, ShortName } from "../../parts/Name";
import { State } from "../../parts/State";
import type { Column } from "../../parts/Table";
import { timeColumn } from "../columns";
import { ListPage } from "../ListPage";
import { AddSystem } from "./AddSystem";
import { Publication } from "./Publication";
import { Published } from "./Published";
import { Publishing } from "./Publishing";
import { Upkeep } from "./Upkeep";

const COLUMNS: readonly Column<Item>[] = [
    {
        head: "Target",
        cell: ({ name }) => (
            <ViewLink to={workOf("targets", {}, name)}>
                <Name text={name} />
            </ViewLink>
        ),
        csv: { name: ({ name }) => name },
    },
    { head: "Kind", cell: ({ kind }) => kind, csv: { kind: ({ kind }) => kind } },
    {
        head: "State",
        cell: ({ state, continuous }) => (
            <>
                <State state={state} />
                {continuous && <p className="hint">by itself: {continuous.state}</p>}
            </>
        ),
        csv: { state: ({ state }) => state, continuous: ({ continuous }) => continuous?.state },
    },
    {
        head: "Published",
        cell: ({ published }) => countsOf(published),
        csv: { published: ({ published }) => countsOf(published) },
    },
    timeColumn("Last", ({ last_at: at }) => at),
    {
        head: "Problem",
        isWide: true,
        cell: ({ last_error: error, continuous }) => (
            <ShortName text={error ?? continuous?.last_error?.message ?? "—"} most={160} />
        ),
        csv: { problem: ({ last_error: error, continuous }) => error ?? continuous?.last_error?.message },
    },
];

/** Numbers by what they count, as words. */
function countsOf(counts: Readonly<Record<string, number>>): string {
    return Object.entries(counts)
        .map(([what, count]) => `${whole(count)} ${what.replaceAll("_", " ")}`)
        .join(", ");
}

/** Systems that lineage is published to. */
export function Targets({ view }: { view: WorkView }) {
    return (
        <ListPage
            view={view}
            title="Targets"
            about="Catalogs and other systems that lineage is published to: planned first, only what differs."
            query={useQuery(targets(view.offset))}
            columns={COLUMNS}
            keyOf={({ name }) => name}
            actions={<AddSystem list="targets" />}
            empty={{
                title: "Lineage is published nowhere yet",
                text: <code>lineage-bridge target add NAME marquez url=http://localhost:5000</code>,
            }}
        />
    );
}

export function Target({ name }: { name: string }) {
    return (
        <>
            <h1>
                Target <Name text={name} />
            </h1>
            <Answer query={useQuery(target(name))}>
                {(item) => (
                    <>
                        <p className="tools">
                            <State state={item.state} />
                        </p>
                        <Publishing name={name} isPaused={item.state === "paused"} />
                        <Upkeep
                            list="targets"
                            name={name}
                            state={item.state}
                            afterwards="What was published to it stays there."
                        />
                        <Facts of={[["Kind", item.kind], ["Set in", item.origin], ...continuousFacts(item)]} />
                        <h2>Last plan or publication</h2>
                        <Publication name={name} isContinuous={false} />
                        {item.continuous && (
                            <>
                                <h2>Last publication by itself</h2>
                                <Publication name={name} isContinuous />
                            </>
                        )}
                        <h2>What was published</h2>
                        <Published name={name} />
                        <h2>Settings</h2>
                        <Settings settings={item.settings} />
                    </>
                )}
            </Answer>
        </>
    );
}

function continuousFacts({ continuous, published }: Item): [string, string | undefined][] {
    return [
        ["Published", countsOf(published)],
        ["By itself", continuous?.state],
        ["Behind", continuous && continuous.lag_s > 0 ? duration(continuous.lag_s) : undefined],
        ["Changes to come", continuous?.lag_changes === undefined ? undefined : whole(continuous.lag_changes)],
        ["Last success", continuous?.last_success_at],
        ["Last error", continuous?.last_error?.message],
        ["Next", continuous?.next_at],
    ];
}
