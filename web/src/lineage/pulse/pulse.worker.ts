import { Rates, type PulseRequest } from "./ticks";

const rates = new Rates();

addEventListener("message", ({ data }: MessageEvent<PulseRequest>) => postMessage(rates.answer(data)));
