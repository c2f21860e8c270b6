import { useEffect } from "react";

import { show } from "../address/history";
import { ESTATE } from "../address/estate";
import { impactOf } from "../address/impact";
import { refOf } from "../address/nodes";
import { ledgerOf, type LineageView, type NodeRef, type View } from "../address/view";
import { traceOf } from "../address/trace";
import { focusedNode, focusNode, nearest, WAYS } from "../graph/nearest";
import { isTyping } from "../shell/keys";
import type { Changes } from "./changes";
import type { Picture, PictureNode } from "./picture/picture";

interface Keyed {
    view: LineageView;
    change: Changes;
    /** Shows the members of a bundle. */
    takeApart: (id: string) => void;
    selected: PictureNode | undefined;
    picture: Picture | undefined;
    toggleFilter: () => void;
    openExport: () => void;
}

/** What a change affects: of the nodes that are picked, or else of the chosen column, or else of the selected node. */
function affected({ picked, column }: LineageView, subject: NodeRef, picture: Picture | undefined): View {
    const [first, ...others] = picked;
    if (first) return impactOf(first, ...others);
    const at = column.indexOf(".");
    const dataset = picture?.nodes.find(({ id }) => id === column.slice(0, at));
    return column !== "" && dataset ? traceOf(refOf(dataset), column.slice(at + 1), "downstream") : impactOf(subject);
}

/** The keys of the lineage view. */
export function useLineageKeys(keyed: Keyed): void {
    const { view, change, takeApart, selected, picture, toggleFilter, openExport } = keyed;
    useEffect(() => {
        const subject =
            selected && !selected.members
                ? { kind: selected.kind, namespace: selected.namespace, name: selected.name }
                : view.root;
        const pick = (id: string | undefined) => {
            const node = picture?.nodes.find((node) => node.id === id);
            if (node) change.pick(node);
        };
        const commands: Record<string, () => void> = {
            l: () => show(ledgerOf(subject)),
            w: () => show(ESTATE),
            b: () => show(affected(view, subject, picture)),
            x: () => pick(focusedNode() ?? selected?.id),
            t: change.toggleList,
            h: change.toggleBar,
            p: change.togglePulse,
            f: toggleFilter,
            e: openExport,
            o: change.toggleFold,
            "+": () => change.hops(1),
            "-": () => change.hops(-1),
            u: () => selected && !selected.members && change.keep(selected.id, "upstream"),
            d: () => (selected?.members ? takeApart(selected.id) : selected && change.keep(selected.id, "downstream")),
            U: () => selected && selected.hidden.upstream > 0 && change.expand(selected.id, "upstream"),
            D: () => selected && selected.hidden.downstream > 0 && change.expand(selected.id, "downstream"),
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
                focusNode(id);
                return;
            }
            const focused = focusedNode();
            if (focused !== undefined && (event.key === "Enter" || event.key === " ")) {
                event.preventDefault();
                if (event.key === "Enter") change.select(focused);
                else pick(focused);
                return;
            }
            // A letter with the shift key is another command where there is one; the lock of capitals changes nothing.
            const letter = event.key.length === 1 ? event.key.toLowerCase() : event.key;
            const command = (event.shiftKey ? commands[letter.toUpperCase()] : undefined) ?? commands[letter];
            if (command) {
                event.preventDefault();
                command();
            }
        };
        window.addEventListener("keydown", onKey, { capture: true });
        return () => window.removeEventListener("keydown", onKey, { capture: true });
    }, [view, change, takeApart, selected, picture, toggleFilter, openExport]);
}
