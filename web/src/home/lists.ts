/** The lists behind what the start page counts. Pure. */

import type { Schemas } from "../api/client";
import { literal } from "../format/glob";
import { workOf, type WorkView } from "../address/work";

type Counted = Pick<Schemas["OverviewAnswer"]["systems"][number], "system" | "namespaces"> & {
    largest: readonly { namespace: string }[];
};

/** The datasets of a system of these; undefined if it is not certain that a glob fits all its namespaces, and nothing else. */
export function listOfSystem(
    { system, namespaces, largest }: Counted,
    systems: readonly Counted[],
): WorkView | undefined {
    const [first, ...others] = largest.map(({ namespace }) => namespace);
    if (first === undefined || namespaces > largest.length) return undefined;
    if (others.length === 0) return workOf("datasets", { namespace: literal(first) });
    const scheme = `${system}://`;
    const isSchemeOfAll = [first, ...others].every((namespace) => namespace.startsWith(scheme));
    // Confluent Cloud's clusters are Kafka's by their addresses.
    const isShared = system === "kafka" && systems.some((other) => other.system === "confluent");
    return isSchemeOfAll && !isShared ? workOf("datasets", { namespace: `${literal(scheme)}*` }) : undefined;
}
