import { useLayoutEffect, useState, type RefObject } from "react";

export interface Size {
    width: number;
    height: number;
}

/** How large an element is, in pixels; undefined before it is drawn. */
export function useSize(element: RefObject<HTMLElement | null>): Size | undefined {
    const [size, setSize] = useState<Size>();
    useLayoutEffect(() => {
        const measured = element.current;
        if (!measured) return;
        const measure = () => {
            const { clientWidth: width, clientHeight: height } = measured;
            setSize((before) => (before?.width === width && before.height === height ? before : { width, height }));
        };
        measure();
        const observer = new ResizeObserver(measure);
        observer.observe(measured);
        return () => observer.disconnect();
    }, [element]);
    return size;
}
