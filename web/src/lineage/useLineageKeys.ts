import { useEffect } from "react";

import { show } from "../address/history";
import { ESTATE } from "../address/estate";
import { impactOf } from "../address/impact";
import { ledgerOf, type LineageView } from "../address/view";
import { focusNode, nearest, WAYS } from "../graph/nearest";
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

/** The keys of the lineage view. */
export function useLineageKeys(keyed: Keyed): void {
    const { view, change, takeApart, selected, picture, toggleFilter, openExport } = keyed;
    useEffect(() => {
        const subject =
            selected && !selected.members
                ? { kind: selected.kind, namespace: selected.namespace, name: selected.name }
                : view.root;
        const commands: Record<string, () => void> = {
            l: () => show(ledgerOf(subject)),
            w: () => show(ESTATE),
            b: () => show(impactOf(subject)),
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
