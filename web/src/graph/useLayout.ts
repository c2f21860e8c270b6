import { useEffect, useRef, useState } from "react";

import type { Layout, LayoutRequest, Point } from "./layout";

/** A layout, the way that the data goes in it, and how far ranks are apart where it is not as usual. */
export type Placed = Layout & { down: boolean; gap?: number };

/** The layout of a picture, made by a worker; the one before until it is made. Without boxes it waits for them. */
export function useLayout(
    boxes: LayoutRequest["boxes"] | undefined,
    links: LayoutRequest["links"],
    down: boolean,
    gap?: number,
): Placed | undefined {
    const [layout, setLayout] = useState<Placed>();
    const worker = useRef<Worker>(null);
    const number = useRef(0);
    const before = useRef<Record<string, Point>>({});

    useEffect(() => {
        const made = new Worker(new URL("./layout.worker.ts", import.meta.url), { type: "module" });
        made.onmessage = ({ data }: MessageEvent<{ number: number; layout: Placed }>) => {
            if (data.number !== number.current) return;
            before.current = data.layout.positions;
            setLayout(data.layout);
        };
        worker.current = made;
        return () => made.terminate();
    }, []);

    const key = boxes && JSON.stringify([boxes, links, down, gap]);
    useEffect(() => {
        if (key === undefined) return;
        number.current += 1;
        const [boxes, links, down, gap] = JSON.parse(key) as [
            LayoutRequest["boxes"],
            LayoutRequest["links"],
            boolean,
            number | null,
        ];
        const request = { boxes, links, before: before.current, down, ...(gap === null ? {} : { gap }) };
        worker.current?.postMessage({ number: number.current, request });
    }, [key]);

    return layout;
}
