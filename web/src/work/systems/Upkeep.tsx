import type { ReactNode } from "react";

import { show } from "../../address/history";
import { workOf } from "../../address/work";
import { answered, client } from "../../api/client";
import { SINGULAR, type SystemList } from "../../api/lists";
import { ActionButton, Allowed } from "../../parts/ActionButton";
import { Checks } from "./Checks";

interface Props {
    list: SystemList;
    name: string;
    state: string;
    /** What happens to what it has brought or made when it is removed. */
    afterwards: string;
    /** What else can be done to it. */
    children?: ReactNode;
}

/** What whoever may does to a source, an input or a target: test, pause, resume and remove it. */
export function Upkeep({ list, name, state, afterwards, children }: Props) {
    const [article, noun] = SINGULAR[list];
    const path = { name };
    const isPaused = state === "paused";
    const action = isPaused ? "resume" : "pause";
    return (
        <Allowed scope="operate" what={`Changing ${article} ${noun}`}>
            {children}
            <ActionButton
                label="Test"
                act={(headers) => answered(client.POST(`/api/v1/${list}/{name}/test`, { params: { path }, headers }))}
                done={(checks) => <Checks checks={checks} />}
            />
            <ActionButton
                key={action}
                label={isPaused ? "Resume" : "Pause"}
                act={(headers) =>
                    answered(client.POST(`/api/v1/${list}/{name}/${action}`, { params: { path }, headers }))
                }
            />
            <ActionButton
                label="Remove"
                question={`The ${noun} “${name}” and its settings are removed. ${afterwards}`}
                act={async (headers) => {
                    await answered(client.DELETE(`/api/v1/${list}/{name}`, { params: { path }, headers }));
                    show(workOf(list));
                }}
            />
        </Allowed>
    );
}
