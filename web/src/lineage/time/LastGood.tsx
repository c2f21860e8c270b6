import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef } from "react";

import { ledgerOf, type Baseline, type NodeRef } from "../../address/view";
import { ledger } from "../../api/questions";
import { moment } from "../../format/text";
import { windowsOf } from "../../ledger/windows";
import { Icon } from "../../parts/Icon";

/** The baselines that are tried, the most telling first: a fault may be older than a day. */
const BASELINES: readonly Baseline[] = ["yesterday", "before", "week"];

interface Props {
    node: NodeRef;
    /** Goes to the last minute in which all that was measured upstream of the node was still right. */
    go: (time: string) => void;
}

/** The button that compares now with the last time at which the ledger of a node was still right; each node has its own. */
export function LastGood({ node, go }: Props) {
    const queries = useQueryClient();
    const latest = useRef(go);
    useEffect(() => {
        latest.current = go;
    });
    const search = useMutation({
        mutationFn: async () => {
            const now = Date.now();
            for (const baseline of BASELINES) {
                const windows = windowsOf({ ...ledgerOf(node), baseline }, now);
                const { last_good: time, hops } = await queries.query(ledger({ target: node, ...windows }));
                if (time !== undefined) return { time, job: hops.find(({ diverged }) => diverged)?.job.name };
            }
            return undefined;
        },
    });
    const { data, error, isPending, isSuccess } = search;
    return (
        <>
            <button
                type="button"
                disabled={isPending}
                // What is found goes to the view as it is by then, and only while the bar is still shown.
                onClick={() => search.mutate(undefined, { onSuccess: (found) => found && latest.current(found.time) })}
                title="The last minute before the first divergence in the hop ledger"
            >
                <Icon name="check" />
                Last good
            </button>
            <span className="hint" role="status">
                {isPending && "Searching the ledger …"}
                {isSuccess && !data && "The ledger knows no time at which a measured hop left its baseline."}
                {data && `${data.job ?? "It"} was right until ${moment(data.time)}`}
                {error?.message}
            </span>
        </>
    );
}
