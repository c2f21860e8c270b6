import { ViewLink } from "../../address/history";
import { workOf } from "../../address/work";

/** A run's id, which leads to all that is known of the run. */
export function RunLink({ id }: { id: string }) {
    return (
        <ViewLink to={workOf("runs", {}, id)} title={id}>
            <code>{id.length > 18 ? `${id.slice(0, 8)}…${id.slice(-4)}` : id}</code>
        </ViewLink>
    );
}
