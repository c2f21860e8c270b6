import { useQuery } from "@tanstack/react-query";
import { ReactFlowProvider } from "@xyflow/react";
import { useEffect, useMemo } from "react";

import { show, ViewLink } from "../address/history";
import { impactWithin } from "../address/impact";
import type { EstateView } from "../address/estate";
import { workOf } from "../address/work";
import { estate } from "../api/questions";
import { counted } from "../format/text";
import { focusNode, nearest, WAYS } from "../graph/nearest";
import { literal } from "../format/glob";
import { CsvButton } from "../parts/CsvButton";
import { Icon } from "../parts/Icon";
import { Answer, Empty } from "../parts/Messages";
import { Name, ShortName } from "../parts/Name";
import { isTyping } from "../shell/keys";
import { EstateCanvas } from "./EstateCanvas";
import { EstateList } from "./EstateList";
import { estateRows, flowWords, iconOfSystem, itemsOf, jobWords, leftOutWords, type EstateItem } from "./estate";

/** Everything from afar: systems or their environments, and how many jobs move data between them; as a graph, or as a list of the same. */
export default function Estate({ view }: { view: EstateView }) {
    const found = useQuery(estate(view.scale));
    const items = useMemo(() => found.data && itemsOf(found.data), [found.data]);
    const selected = items?.find(({ node }) => node.id === view.selected);
    useEstateKeys(view);
    return (
        <div className="lineage estate">
            <div className="bar">
                <h1>Estate</h1>
                <div className="tools" role="toolbar" aria-label="View">
                    <span className="segments" role="group" aria-label="Scale">
                        {(["environment", "system"] as const).map((scale) => (
                            <button
                                key={scale}
                                type="button"
                                aria-pressed={view.scale === scale}
                                onClick={() => show({ ...view, scale, selected: "" })}
                            >
                                {scale === "system" ? "Systems" : "Environments"}
                            </button>
                        ))}
                    </span>
                    <button
                        type="button"
                        aria-pressed={view.as === "list"}
                        onClick={() => toggleList(view)}
                        title="List (T)"
                    >
                        <Icon name={view.as === "list" ? "graph" : "list"} />
                        {view.as === "list" ? "Graph" : "List"}
                    </button>
                    {items && <CsvButton name="estate" rows={() => estateRows(items)} />}
                </div>
            </div>
            {found.data !== undefined && found.data.flows_left_out > 0 && (
                <p className="notice" role="status">
                    {leftOutWords(found.data)}
                </p>
            )}
            <div className="stage">
                <Answer query={found}>
                    {() =>
                        items === undefined || items.length === 0 ? (
                            <Empty title="Nothing is known yet" />
                        ) : view.as === "list" ? (
                            <EstateList items={items} selected={view.selected} select={(id) => select(view, id)} />
                        ) : (
                            <div className="drawing">
                                <ReactFlowProvider>
                                    <EstateCanvas
                                        items={items}
                                        selected={view.selected}
                                        select={(id) => select(view, id)}
                                    />
                                </ReactFlowProvider>
                            </div>
                        )
                    }
                </Answer>
            </div>
            {items && selected && <Beside item={selected} items={items} select={(id) => select(view, id)} />}
            <p className="visually-hidden" role="status">
                {items
                    ? `${counted(items.length, "node")}, ${counted(items.flatMap(({ to }) => to).length, "flow")}`
                    : ""}
            </p>
        </div>
    );
}

function select(view: EstateView, selected: string): void {
    show({ ...view, selected }, { replace: true });
}

function toggleList(view: EstateView): void {
    show({ ...view, as: view.as === "list" ? "graph" : "list" });
}

/** The selected node: what is in it, with the way there, and what flows to it and from it. */
function Beside({
    item,
    items,
    select,
}: {
    item: EstateItem;
    items: readonly EstateItem[];
    select: (id: string) => void;
}) {
    const { node, from, to } = item;
    const titles = new Map(items.map((other) => [other.node.id, other.title]));
    const ends = (flows: EstateItem["to"], end: "source" | "target") => (
        <ul className="plain rows">
            {flows.map((flow) => (
                <li key={flow[end]}>
                    <button type="button" className="row-name" onClick={() => select(flow[end])}>
                        <ShortName text={titles.get(flow[end]) ?? ""} most={60} />
                    </button>
                    <span className="hint">{flowWords(flow)}</span>
                </li>
            ))}
        </ul>
    );
    return (
        <aside className="side" aria-label="Selected node">
            <header>
                <Icon name={iconOfSystem(node.system)} />
                <h2>
                    <Name text={item.title} />
                </h2>
                {item.title !== (node.environment || node.system) && (
                    <p className="namespace">
                        <Name text={node.environment || node.system} />
                    </p>
                )}
                <p>{[counted(node.datasets, "dataset"), ...jobWords(item)].join(", ")}</p>
            </header>
            {node.largest.length > 0 && (
                <section aria-label="Datasets">
                    <h3>Datasets</h3>
                    <ul className="plain rows">
                        {node.largest.map(({ namespace, datasets }) => (
                            <li key={namespace}>
                                <ViewLink to={workOf("datasets", { namespace: literal(namespace) })}>
                                    <ShortName text={namespace} most={60} />
                                </ViewLink>
                                <span className="hint">
                                    {counted(datasets, "dataset")},{" "}
                                    <ViewLink
                                        to={impactWithin(literal(namespace))}
                                        title="What everything in it affects"
                                    >
                                        impact
                                    </ViewLink>
                                </span>
                            </li>
                        ))}
                        {node.namespaces > node.largest.length && (
                            <li className="hint">
                                and {counted(node.namespaces - node.largest.length, "other namespace")}
                            </li>
                        )}
                    </ul>
                </section>
            )}
            {from.length > 0 && (
                <section aria-label="From">
                    <h3>From</h3>
                    {ends(from, "source")}
                </section>
            )}
            {to.length > 0 && (
                <section aria-label="To">
                    <h3>To</h3>
                    {ends(to, "target")}
                </section>
            )}
        </aside>
    );
}

/** The keys of this view. */
function useEstateKeys(view: EstateView): void {
    useEffect(() => {
        const onKey = (event: KeyboardEvent) => {
            if (isTyping(event)) return;
            const way = WAYS[event.key];
            const on = event.target instanceof HTMLElement ? event.target : undefined;
            const focused = on?.closest<HTMLElement>(".react-flow__node")?.dataset.id;
            if (way && view.as === "graph" && !on?.closest(".side")) {
                const id = nearest(way, view.selected);
                if (id === undefined) return;
                event.preventDefault();
                event.stopPropagation();
                select(view, id);
                focusNode(id);
            } else if (event.key === "Enter" && focused !== undefined) {
                select(view, focused);
            } else if (event.key === "Escape") {
                select(view, "");
            } else if (event.key.toLowerCase() === "t" && event.key.length === 1) {
                toggleList(view);
            } else return;
        };
        window.addEventListener("keydown", onKey, { capture: true });
        return () => window.removeEventListener("keydown", onKey, { capture: true });
    }, [view]);
}
