import { useQuery } from "@tanstack/react-query";
import { memo, useContext, useEffect, useMemo, useRef } from "react";

import type { LineageView } from "../../address/view";
import { pulse } from "../../api/questions";
import type { Picture } from "../picture/picture";
import type { PictureState } from "../picture/usePicture";
import { Pulses } from "./store";
import type { PulseRequest, PulseSubject, Tick } from "./ticks";

interface Props {
    view: LineageView;
    state: PictureState;
    /** The links that are drawn, some of which stand for several of the picture. */
    drawn: Picture["links"];
}

/**
 * Keeps the store of the pulse up to date while a view has it on: asked for again and again, or once as of the time that the view has.
 * It shows nothing; answers are read in a worker.
 */
export const PulseFeed = memo(function PulseFeed({ view, state, drawn }: Props) {
    const store = useContext(Pulses);
    const { picture, answers } = state;
    const depth = Math.max(view.up, view.down, 1);
    const found = useQuery(pulse(view.root, depth, view.pulse === "live" ? "" : view.pulse));
    const worker = useRef<Worker>(null);
    const told = useRef<PulseSubject>(null);

    useEffect(() => {
        const made = new Worker(new URL("./pulse.worker.ts", import.meta.url), { type: "module" });
        // Every tick tells only what changed since the one before, so none may be left out. They come in their order.
        made.onmessage = ({ data }: MessageEvent<Tick>) => store.apply(data);
        made.onerror = ({ message }) => store.fail(new Error(message || "the rates could not be read"));
        worker.current = made;
        told.current = null;
        store.turn(true);
        return () => {
            made.terminate();
            store.turn(false);
        };
    }, [store]);

    const subject = useMemo(
        () => picture && subjectOf([...picture.links, ...drawn.filter(({ members }) => members)], answers),
        [picture, answers, drawn],
    );
    useEffect(() => store.fail(found.error), [store, found.error]);
    useEffect(() => {
        if (!found.data || !subject) return;
        const request: PulseRequest = { answer: found.data };
        worker.current?.postMessage(told.current === subject ? request : { ...request, subject });
        told.current = subject;
    }, [found.data, subject]);
    return null;
});

function subjectOf(links: Picture["links"], answers: PictureState["answers"]): PulseSubject {
    const names = answers.flatMap(({ nodes }) => nodes.map(({ id, canonical }) => [id, canonical ?? id] as const));
    // The first two answers are those around the root, as the pulse is; further ones are of expansions.
    const asked = answers.slice(0, 2).flatMap(({ nodes }) => nodes);
    const datasets = asked.flatMap(({ id, kind, canonical }) => (kind === "dataset" ? [canonical ?? id] : []));
    return { links, heads: new Map(names), asked: new Set(datasets) };
}
