import type { PictureFilter } from "../address/filter";
import { show } from "../address/history";
import { boundedHops, distinct, keyOf, refOf } from "../address/nodes";
import type { Direction, LineageView } from "../address/view";
import { relatedColumns, type ColumnRef, type Picture, type PictureNode } from "./picture/picture";

export type Changes = ReturnType<typeof changes>;

/** What can be done to a view; each is a view of its own, so Back undoes it. */
export function changes(view: LineageView) {
    const toggled = (ids: string[], id: string) =>
        ids.includes(id) ? ids.filter((other) => other !== id) : [...ids, id];
    return {
        select: (id: string) => show({ ...view, selected: id }, { replace: true }),
        /** Picks a node, or each of counted groups; the other time, leaves them again. */
        pick: (node: PictureNode) => {
            const refs = (node.members ?? [node]).map(refOf);
            const keys = new Set(refs.map(keyOf));
            const others = view.picked.filter((ref) => !keys.has(keyOf(ref)));
            const isPicked = view.picked.length - others.length === keys.size;
            show({ ...view, picked: isPicked ? others : distinct([...others, ...refs]) }, { replace: true });
        },
        pickNone: () => show({ ...view, picked: [] }),
        expand: (id: string, direction: Direction) =>
            show({ ...view, expansions: [...view.expansions, { id, direction }] }),
        fold: (id: string, direction: Direction) =>
            show({
                ...view,
                expansions: view.expansions.filter((item) => item.id !== id || item.direction !== direction),
            }),
        /** Shows only what lies on this side of a node; the other time, everything again. */
        keep: (id: string, direction: Direction) => {
            const isKept = view.keep?.id === id && view.keep.direction === direction;
            show({ ...view, keep: isKept ? undefined : { id, direction } });
        },
        toggleColumns: (id: string) => show({ ...view, open: toggled(view.open, id) }),
        chooseColumn: ({ node, field }: ColumnRef, picture: Picture | undefined) => {
            const related = relatedColumns(picture?.columns ?? [], { node, field });
            const open = (picture?.nodes ?? [])
                .filter(({ id }) => [...related].some((key) => key.startsWith(`${id}:`)))
                .map(({ id }) => id);
            show({ ...view, column: `${node}.${field}`, open: [...new Set([...view.open, ...open])] });
        },
        leaveColumn: () => show({ ...view, column: "" }),
        togglePulse: () => show({ ...view, pulse: view.pulse === "" ? "live" : "" }),
        toggleBar: () => show({ ...view, ...(view.bar > 0 ? { bar: 0, at: "", from: "" } : { bar: 24 * 7 }) }),
        filter: (filter: PictureFilter) => show({ ...view, filter }, { replace: true }),
        toggleFold: () => show({ ...view, fold: !view.fold, apart: [] }, { replace: true }),
        takeApart: (id: string, selected: string) => show({ ...view, apart: [...view.apart, id], selected }),
        bundleAgain: () => show({ ...view, apart: [] }),
        toggleList: () => show({ ...view, as: view.as === "list" ? "graph" : "list" }),
        hops: (step: number) => show({ ...view, up: boundedHops(view.up + step), down: boundedHops(view.down + step) }),
    };
}
