import { memo } from "react";

import { ViewLink } from "../address/history";
import type { View } from "../address/view";
import { workOf } from "../address/work";
import { sectionOf, SECTIONS } from "../work/sections";

/** The way to everything that is no lineage: each section leads to its lists. */
export const Sections = memo(function Sections({ view }: { view: View }) {
    const current = view.page === "work" ? sectionOf(view.list) : undefined;
    return (
        <nav className="sections" aria-label="Sections">
            {SECTIONS.map((section) => (
                <ViewLink
                    key={section.name}
                    to={workOf(section.lists[0]?.[0] ?? "datasets")}
                    {...(section === current ? { "aria-current": "true" } : {})}
                >
                    {section.name}
                </ViewLink>
            ))}
        </nav>
    );
});
