import { useStoreApi } from "@xyflow/react";
import { memo, useContext, useEffect, useRef } from "react";

import { Pulses } from "../pulse/store";
import { Looks } from "./looks";
import { paint, type Ink, type Line } from "./paint";
import { onTheme } from "../../shell/theme";

/**
 * The links of a large picture on one canvas behind its cards. It is painted when the picture moves or the rates change, without
 * React: neither asks for a component of any link.
 */
export const LineCanvas = memo(function LineCanvas({ lines, distance }: { lines: readonly Line[]; distance: string }) {
    const canvas = useRef<HTMLCanvasElement>(null);
    const sample = useRef<SVGGElement>(null);
    const flow = useStoreApi();
    const pulses = useContext(Pulses);
    useEffect(() => {
        const [surface, context] = [canvas.current, canvas.current?.getContext("2d")];
        if (!surface || !context || !sample.current) return;
        const looks = new Looks(sample.current);
        let ink = inkOf(surface);
        let frame = 0;
        const draw = () => {
            frame = 0;
            const { width, height, transform } = flow.getState();
            if (width === 0 || height === 0) return;
            const [wide, high] = [width, height].map((pixels) => Math.round(pixels * devicePixelRatio));
            if (surface.width !== wide) surface.width = wide ?? 0;
            if (surface.height !== high) surface.height = high ?? 0;
            const [x, y, scale] = transform;
            paint(context, lines, (id) => pulses.of(id), { x, y, width, height, scale }, looks, ink);
            surface.dataset.rates = String(pulses.changes);
        };
        const soon = () => {
            if (frame === 0) frame = requestAnimationFrame(draw);
        };
        const restyle = () => {
            looks.forget();
            ink = inkOf(surface);
            soon();
        };
        const stops = [
            flow.subscribe((now, before) => {
                if (now.transform !== before.transform || now.width !== before.width || now.height !== before.height)
                    soon();
            }),
            pulses.listenToAll(soon),
            onTheme(restyle),
        ];
        soon();
        return () => {
            stops.forEach((stop) => stop());
            cancelAnimationFrame(frame);
        };
        // From afar the style sheets say something else.
    }, [lines, distance, flow, pulses]);
    return (
        <>
            <canvas ref={canvas} className="lines" aria-hidden="true" />
            <svg className="line-sample" aria-hidden="true">
                <g ref={sample}>
                    <g>
                        <path className="react-flow__edge-path" />
                    </g>
                </g>
            </svg>
        </>
    );
});

function inkOf(surface: HTMLElement): Ink {
    const style = getComputedStyle(surface);
    const of = (name: string) => style.getPropertyValue(name);
    return {
        text: of("--ink-soft"),
        ground: of("--surface"),
        border: of("--line"),
        notch: of("--bad"),
        font: `12px ${style.fontFamily}`,
    };
}
