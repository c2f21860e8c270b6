import { Rates, type PulseRequest } from "./ticks";

const rates = new Rates();

addEventListener("message", ({ data }: MessageEvent<PulseRequest>) => {
    const tick = rates.answer(data);
    if (tick) postMessage(tick);
});
