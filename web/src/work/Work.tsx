import type { ReactNode } from "react";

import { ViewLink } from "../address/history";
import { workOf, type WorkList, type WorkView } from "../address/work";
import { Keys } from "./access/Keys";
import { Sessions } from "./access/Sessions";
import { Aliases } from "./Aliases";
import { Drifts } from "./Drifts";
import { Events } from "./events/Events";
import { Quarantine } from "./events/Quarantine";
import { Datasets, Jobs } from "./Nodes";
import { Run } from "./runs/Run";
import { Runs } from "./runs/Runs";
import { sectionOf } from "./sections";
import { Input, Inputs } from "./systems/Inputs";
import { Source, Sources } from "./systems/Sources";
import { Target, Targets } from "./systems/Targets";
import { Task, Tasks } from "./systems/Tasks";

const LISTS: Record<WorkList, (props: { view: WorkView }) => ReactNode> = {
    datasets: Datasets,
    jobs: Jobs,
    aliases: Aliases,
    drift: Drifts,
    runs: Runs,
    events: Events,
    quarantine: Quarantine,
    tasks: Tasks,
    sources: Sources,
    inputs: Inputs,
    targets: Targets,
    keys: Keys,
    sessions: Sessions,
};

/** The entries that are shown whole, in place of their list. Those of the other lists are shown below their rows. */
const ENTRIES: Partial<Record<WorkList, (id: string) => ReactNode>> = {
    runs: (id) => <Run id={id} />,
    tasks: (id) => <Task id={id} />,
    sources: (name) => <Source name={name} />,
    inputs: (name) => <Input name={name} />,
    targets: (name) => <Target name={name} />,
};

/** A list of a section, with the way to the others of it; or one entry of the list, whole. */
export default function Work({ view }: { view: WorkView }) {
    const { name, lists } = sectionOf(view.list);
    const List = LISTS[view.list];
    const entry = view.open === "" ? undefined : ENTRIES[view.list];
    return (
        <div className="column wide work">
            <nav className="subnav" aria-label={name}>
                {lists.map(([list, title]) => (
                    <ViewLink
                        key={list}
                        to={workOf(list)}
                        {...(list === view.list ? { "aria-current": entry ? "true" : "page" } : {})}
                    >
                        {title}
                    </ViewLink>
                ))}
            </nav>
            {entry ? entry(view.open) : <List view={view} />}
        </div>
    );
}
