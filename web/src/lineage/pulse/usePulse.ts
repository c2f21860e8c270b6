import { useQuery } from "@tanstack/react-query";
import { useEffect, useMemo, useState } from "react";

import type { LineageView } from "../../address/view";
import { pulse } from "../../api/questions";
import type { PictureState } from "../usePicture";
import { ratesOf, type Flow } from "./rates";
import { PulseStore } from "./store";

export interface PulseState {
    flows: ReadonlyMap<string, Flow>;
    store: PulseStore;
    /** The time that the rates are of; empty before there are any. */
    at: string;
    error: Error | null;
}

const NOTHING: ReadonlyMap<string, Flow> = new Map();

/** The rates on the links of a picture: asked for again and again, or once as of the time that the view has. */
export function usePulse(view: LineageView, { picture, answers }: PictureState): PulseState {
    const depth = Math.max(view.up, view.down, 1);
    const isOn = view.pulse !== "";
    const found = useQuery({ ...pulse(view.root, depth, view.pulse === "live" ? "" : view.pulse), enabled: isOn });
    const [store] = useState(() => new PulseStore());
    const flows = useMemo(() => {
        if (!isOn || !found.data || !picture) return NOTHING;
        const names = answers.flatMap(({ nodes }) => nodes.map(({ id, canonical }) => [id, canonical ?? id] as const));
        // The first two answers are those around the root, as the pulse is; further ones are of expansions.
        const asked = answers.slice(0, 2).flatMap(({ nodes }) => nodes);
        const datasets = asked.flatMap(({ id, kind, canonical }) => (kind === "dataset" ? [canonical ?? id] : []));
        return ratesOf(found.data, picture, new Map(names), new Set(datasets));
    }, [isOn, found.data, picture, answers]);
    useEffect(() => store.set(flows), [store, flows]);
    return { flows, store, at: isOn ? (found.data?.at ?? "") : "", error: isOn ? found.error : null };
}
