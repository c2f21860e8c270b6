import { ViewLink } from "../address/history";
import { refOf } from "../address/nodes";
import { lineageOf } from "../address/view";
import { Name } from "../parts/Name";
import { nobodyWords, rightOf, whyUnknown, type Access } from "./access";

/** Who may read or write a dataset, each on a line of its own; or why that is not known. */
export function Right({ access, right }: { access: Access; right: "read" | "write" }) {
    const found = rightOf(access, right);
    if (!found) return <span className="hint">{whyUnknown(access)}</span>;
    const [first, ...others] = found.may;
    if (first === undefined) return <>{nobodyWords(access)}</>;
    return (
        <ul className="plain">
            <li>
                <Name text={first} />
            </li>
            {found.not.map((principal) => (
                <li key={`not ${principal}`}>
                    but not <Name text={principal} />
                </li>
            ))}
            {others.map((principal) => (
                <li key={principal}>
                    <Name text={principal} />
                </li>
            ))}
        </ul>
    );
}

/** The jobs that read or write a dataset. */
export function Jobs({ jobs = [] }: { jobs: Access["readers"] }) {
    if (jobs.length === 0) return <>—</>;
    return (
        <ul className="plain">
            {jobs.map((job) => (
                <li key={job.id}>
                    <ViewLink to={lineageOf(refOf(job))}>
                        <Name text={job.name} />
                    </ViewLink>
                </li>
            ))}
        </ul>
    );
}
