import { useEffect, useRef, useState } from "react";

import type { Layout, LayoutRequest, Point } from "./layout";

/** The layout of a picture, made by a worker; the one before until it is made. */
export function useLayout(boxes: LayoutRequest["boxes"], links: LayoutRequest["links"]): Layout | undefined {
    const [layout, setLayout] = useState<Layout>();
    const worker = useRef<Worker>(null);
    const number = useRef(0);
    const before = useRef<Record<string, Point>>({});

    useEffect(() => {
        const made = new Worker(new URL("./layout.worker.ts", import.meta.url), { type: "module" });
        made.onmessage = ({ data }: MessageEvent<{ number: number; layout: Layout }>) => {
            if (data.number !== number.current) return;
            before.current = data.layout.positions;
            setLayout(data.layout);
        };
        worker.current = made;
        return () => made.terminate();
    }, []);

    const key = JSON.stringify([boxes, links]);
    useEffect(() => {
        number.current += 1;
        const [boxes, links] = JSON.parse(key) as [LayoutRequest["boxes"], LayoutRequest["links"]];
        worker.current?.postMessage({ number: number.current, request: { boxes, links, before: before.current } });
    }, [key]);

    return layout;
}
