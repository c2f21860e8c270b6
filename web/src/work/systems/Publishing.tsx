import { useState } from "react";

import { answered, client } from "../../api/client";
import { ActionButton, Allowed } from "../../parts/ActionButton";

/** Plans what a publication would change at a target, and publishes, for those who may. */
export function Publishing({ name, isPaused }: { name: string; isPaused: boolean }) {
    const [prune, setPrune] = useState(false);
    const [overwrite, setOverwrite] = useState(false);
    const publish = (planOnly: boolean) => (headers: Record<string, string>) =>
        answered(
            client.POST("/api/v1/targets/{name}/publish", {
                params: { path: { name } },
                body: { plan_only: planOnly, prune, overwrite },
                headers,
            }),
        );
    const changes = [
        "What differs is created and updated there.",
        prune && "What was published and is no longer in the lineage is removed.",
        overwrite && "What others have changed since is overwritten.",
        "A plan shows each operation first.",
    ];
    return (
        <Allowed scope="operate" what="Planning and publishing">
            <ActionButton label="Plan" icon="list" act={publish(true)} isDisabled={isPaused} />
            <ActionButton
                label="Publish"
                icon="downstream"
                isPrimary
                isDisabled={isPaused}
                question={changes.filter((text) => text !== false).join(" ")}
                act={publish(false)}
            />
            <label>
                <input type="checkbox" checked={prune} onChange={(event) => setPrune(event.target.checked)} />
                remove what is gone
            </label>
            <label>
                <input type="checkbox" checked={overwrite} onChange={(event) => setOverwrite(event.target.checked)} />
                overwrite what others changed
            </label>
        </Allowed>
    );
}
