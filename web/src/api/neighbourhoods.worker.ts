import { Rereader, type RereadRequest } from "./neighbourhoods";

const rereader = new Rereader();

addEventListener("message", ({ data }: MessageEvent<RereadRequest>) => {
    try {
        postMessage(rereader.read(data));
    } catch (failure) {
        postMessage({ number: data.number, error: String(failure) });
    }
});
