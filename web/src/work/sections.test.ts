import { expect, test } from "vitest";

import { WORK_FILTERS } from "../address/work";
import { SECTIONS } from "./sections";

test("every list is in one section, once", () => {
    const lists = SECTIONS.flatMap((section) => section.lists.map(([list]) => list));
    expect([...lists].sort()).toEqual(Object.keys(WORK_FILTERS).sort());
});
