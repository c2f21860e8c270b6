import type { Schemas } from "../api/client";
import { counted, whole } from "../format/text";
import { literal } from "../format/glob";
import { Icon, iconOf } from "../parts/Icon";
import { ShortName } from "../parts/Name";
import { State } from "../parts/State";
import { ESTATE } from "../address/estate";
import { ViewLink } from "../address/history";
import type { View } from "../address/view";
import { workOf } from "../address/work";
import { listOfSystem } from "./lists";

/** Everything by system and type, as the server counts it. */
export function Estate({ overview }: { overview: Schemas["OverviewAnswer"] }) {
    return (
        <section aria-labelledby="estate">
            <h2 id="estate">The estate</h2>
            {overview.systems.length > 0 && (
                <p>
                    <ViewLink className="button" to={ESTATE}>
                        <Icon name="estate" />
                        What flows between systems
                    </ViewLink>
                </p>
            )}
            <div className="cards">
                {overview.systems.map(({ system, datasets, namespaces, largest }, _, systems) => (
                    <article key={system} className="card">
                        <h3>
                            <Icon name={iconOf("dataset", system === "kafka" ? "kafka_topic" : "", system)} />
                            <ShortName text={system} most={40} />
                        </h3>
                        <p className="figure">
                            <Figure
                                count={datasets}
                                noun="dataset"
                                to={listOfSystem({ system, namespaces, largest }, systems)}
                            />
                        </p>
                        <ul className="plain">
                            {largest.map((space) => (
                                <li key={space.namespace}>
                                    <ViewLink to={workOf("datasets", { namespace: literal(space.namespace) })}>
                                        <ShortName text={space.namespace} most={60} />
                                    </ViewLink>
                                    <span className="count">{whole(space.datasets)}</span>
                                </li>
                            ))}
                            {namespaces > largest.length && (
                                <li className="hint">and {counted(namespaces - largest.length, "other namespace")}</li>
                            )}
                        </ul>
                    </article>
                ))}
                {overview.job_types.map(({ job_type: type, jobs, states }) => (
                    <article key={`job ${type}`} className="card job">
                        <h3>
                            <Icon name={iconOf("job", type, "")} />
                            {type.replaceAll("_", " ")}
                        </h3>
                        <p className="figure">
                            <Figure count={jobs} noun="job" to={workOf("jobs", { type })} />
                        </p>
                        <p className="states">
                            {states.map(({ state, jobs: count }) => (
                                <ViewLink key={state} to={workOf("jobs", { type, state })}>
                                    <State state={state} count={whole(count)} />
                                </ViewLink>
                            ))}
                        </p>
                    </article>
                ))}
            </div>
        </section>
    );
}

/** How many there are, with the way to their list. */
function Figure({ count, noun, to }: { count: number; noun: string; to?: View | undefined }) {
    const words = (
        <>
            {whole(count)}{" "}
            <small>
                {noun}
                {count === 1 ? "" : "s"}
            </small>
        </>
    );
    return to ? <ViewLink to={to}>{words}</ViewLink> : words;
}
