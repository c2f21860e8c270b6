import { createContext, useCallback, useContext, useSyncExternalStore } from "react";

import type { Flow } from "./rates";

/** The flows of all links. Each link listens for its own alone, so that a tick renders those that changed and nothing else. */
export class PulseStore {
    private flows: ReadonlyMap<string, Flow> = new Map();
    private readonly listeners = new Map<string, () => void>();

    set(flows: ReadonlyMap<string, Flow>): void {
        const before = this.flows;
        this.flows = new Map(
            [...flows].map(([id, flow]) => {
                const known = before.get(id);
                return [id, known && JSON.stringify(known) === JSON.stringify(flow) ? known : flow];
            }),
        );
        for (const [id, listener] of this.listeners) if (this.flows.get(id) !== before.get(id)) listener();
    }

    get(id: string): Flow | undefined {
        return this.flows.get(id);
    }

    listen(id: string, listener: () => void): () => void {
        this.listeners.set(id, listener);
        return () => void this.listeners.delete(id);
    }
}

export const Pulses = createContext(new PulseStore());

/** The flow of a link, if the pulse is on and it is known. */
export function useFlow(id: string): Flow | undefined {
    const store = useContext(Pulses);
    const subscribe = useCallback((listener: () => void) => store.listen(id, listener), [store, id]);
    return useSyncExternalStore(subscribe, () => store.get(id));
}
