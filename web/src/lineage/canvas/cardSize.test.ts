import { expect, test } from "vitest";

import type { Picture, PictureLink, PictureNode } from "../picture/picture";
import { gapOf } from "./cardSize";

const picture = (...links: Partial<PictureLink>[]) =>
    ({ nodes: [], links: links.map((link) => ({ via: [], liveness: "alive", ...link })) }) as unknown as Picture;

test("ranks are further apart where links have words, the further the longer these are", () => {
    expect(gapOf(picture({}), false)).toBeUndefined();
    const rate = gapOf(picture({}), true) ?? 0;
    const silence = gapOf(picture({}, { liveness: "silent" }), true) ?? 0;
    const through = gapOf(picture({ liveness: "gone" }, { via: ["job"] }), true) ?? 0;
    expect(rate).toBeGreaterThan(100);
    expect(silence).toBeGreaterThan(rate);
    expect(through).toBeGreaterThan(silence);
    expect(gapOf(picture({ via: ["job"] }), false)).toBe(through);
    const group = { details: { node_type: "consumer_group" } } as unknown as PictureNode;
    expect(gapOf({ ...picture({}), nodes: [group] }, true)).toBeGreaterThan(silence);
});
