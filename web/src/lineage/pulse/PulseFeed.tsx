import { useQuery } from "@tanstack/react-query";
import { memo, useCallback, useContext, useEffect, useMemo, useRef, useState } from "react";

import type { LineageView } from "../../address/view";
import { pulse } from "../../api/questions";
import type { Picture } from "../picture/picture";
import type { PictureState } from "../picture/usePicture";
import { questionOf, subjectOf } from "./asked";
import { follow } from "./following";
import { Pulses } from "./store";
import type { PulseRequest, PulseSubject, Tick } from "./ticks";

interface Props {
    view: LineageView;
    state: PictureState;
    /** The links that are drawn, some of which stand for several of the picture. */
    drawn: Picture["links"];
}

/**
 * Keeps the store of the pulse up to date while a view has it on: pushed by the server, or, where that is refused or held back, asked for
 * again and again; or asked once as of the time that the view has. It shows nothing; answers are read in a worker.
 */
export const PulseFeed = memo(function PulseFeed({ view, state, drawn }: Props) {
    const store = useContext(Pulses);
    const { picture, answers } = state;
    const isLive = view.pulse === "live";
    const [isPushed, setPushed] = useState(isLive);
    const worker = useRef<Worker>(null);
    const sent = useRef<PulseSubject>(null);

    useEffect(() => {
        const made = new Worker(new URL("./pulse.worker.ts", import.meta.url), { type: "module" });
        // Every tick has only what changed since the one before, so none may be left out. They come in their order.
        made.onmessage = ({ data }: MessageEvent<Tick>) => store.apply(data);
        made.onerror = ({ message }) => store.fail(new Error(message || "the rates could not be read"));
        worker.current = made;
        sent.current = null;
        store.turn(true);
        return () => {
            made.terminate();
            store.turn(false);
        };
    }, [store]);

    const key = picture && JSON.stringify(questionOf(view, drawn, answers));
    const question = useMemo(() => (key ? (JSON.parse(key) as ReturnType<typeof questionOf>) : undefined), [key]);
    const subject = useMemo(
        () => question && picture && subjectOf(question, picture, drawn, answers),
        [question, picture, drawn, answers],
    );
    const post = useCallback((answer?: PulseRequest["answer"]) => {
        worker.current?.postMessage((answer ? { answer } : {}) satisfies PulseRequest);
    }, []);

    useEffect(() => {
        if (!subject || sent.current === subject) return;
        worker.current?.postMessage({ subject } satisfies PulseRequest);
        sent.current = subject;
    }, [subject]);

    useEffect(() => {
        if (!isLive || !question) return;
        const over = new AbortController();
        const take = (text: string) => {
            store.fail(null);
            post(text);
        };
        void follow(question, { take, fail: (problem) => store.fail(problem), turn: setPushed }, over.signal);
        return () => over.abort();
    }, [isLive, question, store, post]);

    const found = useQuery({
        ...pulse(question, isLive ? "" : view.pulse),
        enabled: question !== undefined && !(isLive && isPushed),
    });
    useEffect(() => store.fail(found.error), [store, found.error]);
    useEffect(() => {
        if (found.data && !(isLive && isPushed)) post(found.data);
    }, [found.data, isLive, isPushed, post]);
    return null;
});
