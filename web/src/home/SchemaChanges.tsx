import { useQuery } from "@tanstack/react-query";

import { ViewLink } from "../address/history";
import { lineageOf } from "../address/view";
import type { Schemas } from "../api/client";
import { schemaChanges } from "../api/lists";
import { ago, whole } from "../format/text";
import { FullName, ShortName } from "../parts/Name";
import { useNow } from "../parts/useNow";
import { Asked, Group } from "./Group";
import { schemaWords } from "./schemaWords";

const SHOWN = 5;

/** The schemas that changed within the last week, each with the columns that came, went or have another type. */
export function SchemaChanges() {
    const now = useNow();
    return (
        <Asked query={useQuery(schemaChanges)} title="Schema changes">
            {({ changes, truncated, exhaustive }) => (
                <Group
                    title={
                        changes.length > 0
                            ? `${changes.length === 1 ? "schema change" : "schema changes"} within a week`
                            : exhaustive
                              ? "No schema changed within a week"
                              : "No schema change is known of this week"
                    }
                    count={changes.length}
                >
                    <ul className="plain rows">
                        {changes.slice(0, SHOWN).map((change) => (
                            <Changed
                                key={`${change.dataset.namespace} ${change.dataset.name} ${change.at}`}
                                {...change}
                                now={now}
                            />
                        ))}
                    </ul>
                    {!exhaustive && changes.length === 0 && (
                        <p className="hint">Of so many datasets, changes are known since the graph was computed.</p>
                    )}
                    {(truncated || changes.length > SHOWN) && (
                        <p className="hint">{`The newest ${whole(Math.min(SHOWN, changes.length))} are shown.`}</p>
                    )}
                </Group>
            )}
        </Asked>
    );
}

function Changed({ now, ...change }: Schemas["SchemaChangeItem"] & { now: number }) {
    const { namespace, name } = change.dataset;
    const view = lineageOf({ kind: "dataset", namespace, name });
    return (
        <li>
            <ViewLink to={{ ...view, about: "schema" }}>
                <FullName {...change.dataset} />
            </ViewLink>
            <span className="hint">{ago(change.at, now)}</span>
            <p className="hint">
                <ShortName text={schemaWords(change)} most={160} />
            </p>
        </li>
    );
}
