/** The estate as a picture: its nodes, the flows between them, and what flows within each. Pure. */

import type { Schemas } from "../api/client";
import { counted, visible, whole } from "../format/text";
import { iconOf, type IconName } from "../parts/Icon";

export type EstateNode = Schemas["EstateNode"];
export type EstateFlow = Schemas["EstateFlow"];

export interface EstateItem {
    node: EstateNode;
    title: string;
    /** What flows from it to itself. */
    inside: EstateFlow | undefined;
    from: EstateFlow[];
    to: EstateFlow[];
}

/** Each node with the flows that lead to it and from it, in the order of the answer. */
export function itemsOf({ nodes, flows, others }: Schemas["EstateAnswer"]): EstateItem[] {
    const between = flows.filter(({ source, target }) => source !== target);
    return nodes.map((node) => ({
        node,
        title: titleOf(node, others),
        inside: flows.find(({ source, target }) => source === node.id && target === node.id),
        from: between.filter(({ target }) => target === node.id),
        to: between.filter(({ source }) => source === node.id),
    }));
}

/** An environment without what its system says already; of what the answer has no room for, how much it is. */
function titleOf({ system, environment }: EstateNode, others: number): string {
    if (system === "" && environment === "(others)") return others > 0 ? `${whole(others)} others` : "others";
    const isRepeated = environment.startsWith(`${system}:`);
    const rest = isRepeated ? environment.slice(system.length + 1).replace(/^\/+/, "") : environment;
    return rest || environment || system;
}

/** How much flows, in words. */
export function flowWords({ jobs, direct }: Pick<EstateFlow, "jobs" | "direct">): string {
    const words = [
        ...(jobs > 0 ? [counted(jobs, "job")] : []),
        ...(direct > 0 ? [`${whole(direct)} without a job`] : []),
    ];
    return words.join(", ");
}

/** That the answer has not all flows, in words. */
export function leftOutWords({ flows, flows_left_out: rest }: Schemas["EstateAnswer"]): string {
    return `These are the ${counted(flows.length, "largest flow")}; ${whole(rest)} more ${rest === 1 ? "is" : "are"} not shown.`;
}

/** What there is besides datasets, in words. */
export function jobWords({ node, inside }: EstateItem): string[] {
    return [
        ...(inside ? [`${flowWords(inside)} inside`] : []),
        ...(node.readers > 0 ? [`${counted(node.readers, "job")} only ${node.readers === 1 ? "reads" : "read"}`] : []),
        ...(node.writers > 0
            ? [`${counted(node.writers, "job")} only ${node.writers === 1 ? "writes" : "write"}`]
            : []),
    ];
}

/** What a node is, for who does not see it: its hidden characters are codes. */
export function labelOf(item: EstateItem): string {
    const { system, datasets } = item.node;
    return [visible(item.title), visible(system), counted(datasets, "dataset"), ...jobWords(item)].join(", ");
}

/** How wide a flow is drawn, in pixels, where the largest of all is of `most` jobs. */
export function flowWidth({ jobs, direct }: EstateFlow, most: number): number {
    return 1.5 + (5 * Math.log(jobs + direct)) / Math.log(Math.max(2, most));
}

/**
 * Everything as rows, the heads first: a row for each flow. Jobs that only read lead nowhere, those that only write come from nowhere; a
 * node without flows is a row of its own.
 */
export function estateRows(items: readonly EstateItem[]): (string | number)[][] {
    const byId = new Map(items.map(({ node }) => [node.id, node]));
    const end = (id: string | undefined) => {
        const node = id === undefined ? undefined : byId.get(id);
        return node ? [node.system, node.environment, node.datasets] : ["", "", ""];
    };
    const row = (source: string | undefined, target: string | undefined, jobs: number, direct: number) => [
        ...end(source),
        ...end(target),
        jobs,
        direct,
    ];
    return [
        ["source", "target"]
            .flatMap((side) => [`${side}_system`, `${side}_environment`, `${side}_datasets`])
            .concat("jobs", "direct"),
        ...items.flatMap((item) => {
            const { id, readers, writers } = item.node;
            const rows = [
                ...[...(item.inside ? [item.inside] : []), ...item.to].map(({ target, jobs, direct }) =>
                    row(id, target, jobs, direct),
                ),
                ...(readers > 0 ? [row(id, undefined, readers, 0)] : []),
                ...(writers > 0 ? [row(undefined, id, writers, 0)] : []),
            ];
            return rows.length > 0 || item.from.length > 0 ? rows : [row(id, undefined, 0, 0)];
        }),
    ];
}

/** The icon of a system's datasets. */
export function iconOfSystem(system: string): IconName {
    return iconOf("dataset", system === "kafka" || system === "confluent" ? "kafka_topic" : "", system);
}
