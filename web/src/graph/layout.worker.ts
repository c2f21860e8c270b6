import { layOut, type LayoutRequest } from "./layout";

addEventListener("message", ({ data }: MessageEvent<{ number: number; request: LayoutRequest }>) => {
    postMessage({ number: data.number, layout: { ...layOut(data.request), down: data.request.down ?? false } });
});
