import { createContext, useCallback, useContext, useSyncExternalStore } from "react";

import type { Flow } from "./rates";
import type { Tick } from "./ticks";

export interface PulseState {
    /** By the ids of links; nothing while the pulse is off. */
    flows: ReadonlyMap<string, Flow> | undefined;
    /** The time that the rates are of; empty before there are any. */
    at: string;
    error: Error | null;
}

const OFF: PulseState = { flows: undefined, at: "", error: null };
const ASKING: PulseState = { flows: new Map(), at: "", error: null };

/**
 * The flows of all links, outside of React: each link listens for its own alone, and whoever draws all of them is told once, so that a
 * tick renders what changed and nothing else.
 */
export class PulseStore {
    private state = OFF;
    private readonly links = new Map<string, () => void>();
    private readonly wholes = new Set<() => void>();
    /** How often a flow of any link changed. */
    changes = 0;

    readonly get = (): PulseState => this.state;

    of(id: string): Flow | undefined {
        return this.state.flows?.get(id);
    }

    turn(isOn: boolean): void {
        if (isOn && this.state === OFF) this.change(ASKING, undefined);
        if (!isOn && this.state !== OFF) this.change(OFF, undefined);
    }

    fail(error: Error | null): void {
        if (error !== this.state.error) this.change({ ...this.state, error }, []);
    }

    apply({ at, isWhole, changed, gone }: Tick): void {
        if (this.state === OFF) return;
        const isSame = !isWhole && changed.length === 0 && gone.length === 0;
        if (isSame) {
            this.change({ ...this.state, at }, []);
            return;
        }
        const flows = new Map(isWhole ? [] : this.state.flows);
        changed.forEach(([id, flow]) => flows.set(id, flow));
        gone.forEach((id) => flows.delete(id));
        this.changes += 1;
        this.change({ ...this.state, flows, at }, isWhole ? undefined : [...changed.map(([id]) => id), ...gone]);
    }

    /** `ids`: of the links whose flow may be another one; all if they are not given. */
    private change(state: PulseState, ids: readonly string[] | undefined): void {
        this.state = state;
        for (const id of ids ?? this.links.keys()) this.links.get(id)?.();
        this.wholes.forEach((listener) => listener());
    }

    listen(id: string, listener: () => void): () => void {
        this.links.set(id, listener);
        return () => void this.links.delete(id);
    }

    /** For whom it is about all links, or about the time. */
    readonly listenToAll = (listener: () => void): (() => void) => {
        this.wholes.add(listener);
        return () => void this.wholes.delete(listener);
    };
}

export const Pulses = createContext(new PulseStore());

/** The flow of a link, if the pulse is on and it is known. */
export function useFlow(id: string): Flow | undefined {
    const store = useContext(Pulses);
    const subscribe = useCallback((listener: () => void) => store.listen(id, listener), [store, id]);
    return useSyncExternalStore(subscribe, () => store.of(id));
}

export function usePulse(): PulseState {
    const store = useContext(Pulses);
    return useSyncExternalStore(store.listenToAll, store.get);
}
