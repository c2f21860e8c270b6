import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";

import type { LineageView } from "../../address/view";
import { timeline } from "../../api/questions";
import { useNow } from "../../parts/useNow";
import { pictureOf, type Picture } from "../picture/picture";
import { usePicture, type PictureState } from "../picture/usePicture";
import { between, compareSnapshots, type Comparison, type Mark } from "./comparison";
import { spanOf, textOf, type Span } from "./scale";

export interface TimeState {
    /** What is laid out: everything that was there at any of the times shown, so that nothing moves between them. */
    state: PictureState;
    /** The picture as of the time of the view. */
    present: Picture | undefined;
    comparison: Comparison | undefined;
    span: Span;
    marks: Mark[] | undefined;
    truncated: boolean;
    error: Error | null;
}

/** The picture at the times of a view, what changed between them, and all changes that the time bar shows. */
export function useTime(view: LineageView): TimeState {
    const now = useNow(60);
    const span = useMemo(() => spanOf(view.bar, now, [view.at, view.from]), [view.bar, view.at, view.from, now]);
    const current = usePicture(view, "");
    const later = usePicture(view, view.at);
    const earlier = usePicture(view, view.from);
    const depth = Math.max(view.up, view.down, 1);
    const found = useQuery({
        ...timeline(view.root, depth, textOf(span.start), textOf(span.end)),
        enabled: view.bar > 0 || view.from !== "",
    });
    const isPast = view.at !== "" || view.from !== "";
    const state = useMemo(() => {
        if (!isPast) return current;
        const states = [later, ...(view.from === "" ? [] : [earlier]), current];
        const isComplete = states.every(({ picture }) => picture !== undefined);
        // The details of now come last, and stay.
        return {
            ...later,
            picture: isComplete ? pictureOf(states.flatMap(({ answers }) => answers)) : undefined,
            rootId: current.rootId || later.rootId,
            error: later.error ?? earlier.error ?? current.error,
            isFetching: states.some(({ isFetching }) => isFetching),
        };
    }, [isPast, current, later, earlier, view.from]);
    const marks = found.data?.marks;
    const present = later.picture;
    const comparison = useMemo(
        () =>
            view.from !== "" && earlier.picture && present
                ? compareSnapshots(earlier.picture, present, between(marks ?? [], view.from, view.at))
                : undefined,
        [earlier.picture, present, marks, view.from, view.at],
    );
    return { state, present, comparison, span, marks, truncated: found.data?.truncated ?? false, error: found.error };
}
