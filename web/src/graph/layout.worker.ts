import { layOut, type LayoutRequest } from "./layout";

addEventListener("message", ({ data }: MessageEvent<{ number: number; request: LayoutRequest }>) => {
    const { down = false, gap } = data.request;
    postMessage({ number: data.number, layout: { ...layOut(data.request), down, gap } });
});
