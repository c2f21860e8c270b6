import { useEffect } from "react";

import { show } from "../address/history";
import { impactOf, ledgerOf, type LineageView } from "../address/view";
import { isTyping } from "../shell/keys";
import type { Changes } from "./Lineage";
import type { Picture, PictureNode } from "./picture";

interface Keyed {
    view: LineageView;
    change: Changes;
    selected: PictureNode | undefined;
    picture: Picture | undefined;
    toggleFilter: () => void;
    openExport: () => void;
}

const WAYS: Record<string, [number, number]> = {
    ArrowLeft: [-1, 0],
    ArrowRight: [1, 0],
    ArrowUp: [0, -1],
    ArrowDown: [0, 1],
};

/** The keys of the lineage view. */
export function useLineageKeys({ view, change, selected, picture, toggleFilter, openExport }: Keyed): void {
    useEffect(() => {
        const subject = selected
            ? { kind: selected.kind, namespace: selected.namespace, name: selected.name }
            : view.root;
        const commands: Record<string, () => void> = {
            l: () => show(ledgerOf(subject)),
            b: () => show(impactOf(subject)),
            t: change.toggleList,
            h: change.toggleBar,
            p: change.togglePulse,
            f: toggleFilter,
            e: openExport,
            o: change.toggleFold,
            "+": () => change.hops(1),
            "-": () => change.hops(-1),
            u: () => selected && selected.hidden.upstream > 0 && change.expand(selected.id, "upstream"),
            d: () => selected && selected.hidden.downstream > 0 && change.expand(selected.id, "downstream"),
            c: () => selected?.kind === "dataset" && change.toggleColumns(selected.id),
            Escape: () => change.select(""),
        };
        const onKey = (event: KeyboardEvent) => {
            if (isTyping(event)) return;
            const way = WAYS[event.key];
            const hasOwnKeys = event.target instanceof HTMLElement && event.target.closest(".side, .time-bar") !== null;
            if (way && view.as === "graph" && !hasOwnKeys) {
                const id = nearest(way, selected?.id ?? "");
                if (id === undefined) return;
                event.preventDefault();
                event.stopPropagation();
                change.select(id);
                document.querySelector<HTMLElement>(`.react-flow__node[data-id="${CSS.escape(id)}"]`)?.focus();
                return;
            }
            const command = commands[event.key.length === 1 ? event.key.toLowerCase() : event.key];
            if (command) {
                event.preventDefault();
                command();
            }
        };
        window.addEventListener("keydown", onKey, { capture: true });
        return () => window.removeEventListener("keydown", onKey, { capture: true });
    }, [view, change, selected, picture, toggleFilter, openExport]);
}

/** The id of the drawn node that lies next in a direction: near counts, and off the line counts double. */
function nearest([dx, dy]: [number, number], from: string): string | undefined {
    const drawn = [...document.querySelectorAll<HTMLElement>(".react-flow__node")].map((element) => {
        const { left, top, width, height } = element.getBoundingClientRect();
        return { id: element.dataset.id ?? "", x: left + width / 2, y: top + height / 2 };
    });
    const start = drawn.find(({ id }) => id === from);
    if (!start) return drawn[0]?.id;
    const ranked = drawn.flatMap(({ id, x, y }) => {
        const along = (x - start.x) * dx + (y - start.y) * dy;
        const off = Math.abs((x - start.x) * dy) + Math.abs((y - start.y) * dx);
        return id !== from && along > 8 ? [{ id, cost: along + 2 * off }] : [];
    });
    return ranked.sort((a, b) => a.cost - b.cost)[0]?.id;
}
