/** Who can see the values of a trace: who may read and write its datasets, and which jobs do. Pure. */

import type { Schemas } from "../api/client";
import { counted } from "../format/text";

type Trace = Schemas["TraceAnswer"];
export type Access = Schemas["AccessItem"];
type Right = "read" | "write";

const isEverybody = ({ principal }: Schemas["PrincipalItem"]) => principal === "User:*";

/** A principal in words: everybody, or its name with its id. */
export function principalWords({ principal, name }: Schemas["PrincipalItem"]): string {
    const known = isEverybody({ principal }) ? "everybody" : (name ?? "");
    return known === "" ? principal : `${known} (${principal})`;
}

/** Who has a right, everybody first, and, where everybody has it, who has not; undefined if that is not known. */
export function rightOf(access: Access, right: Right): { may: string[]; not: string[] } | undefined {
    const may = right === "read" ? access.may_read : access.may_write;
    const not = right === "read" ? access.not_read : access.not_write;
    const sorted = may && [...may.filter(isEverybody), ...may.filter((other) => !isEverybody(other))];
    return sorted && { may: sorted.map(principalWords), not: (not ?? []).map(principalWords) };
}

/** Why it is not known who has a right, in words. */
export function whyUnknown({ hidden, collector }: Access): string {
    if (hidden) return "not shown to you";
    return collector === undefined
        ? "not known: no source reports it for this system"
        : `not known: a source of kind ${collector} reports it`;
}

/** That nobody has a right by the rules, in words. */
export function nobodyWords({ no_rules: noRules }: Pick<Access, "no_rules">): string {
    return noRules ? "nobody: no ACL is for it" : "nobody";
}

const NOT_OBSERVED: Record<string, string> = {
    super_users: "super users",
    role_bindings: "role bindings (RBAC), also those of administrators",
    policies: "role bindings, IAM policies and other rights that are no ACLs",
    default: "everybody, if the cluster opens topics without ACLs (allow.everyone.if.no.acl.found)",
};

/** Which rights are not in the answer, on one line; empty if all are. */
export function notObserved(access: Pick<Access, "not_observed">[]): string {
    const kinds = new Set(access.flatMap((each) => each.not_observed ?? []));
    return [...kinds].map((kind) => NOT_OBSERVED[kind] ?? kind).join("; ");
}

/** Who has a right, on one line. */
export function rightWords(access: Access, right: Right): string {
    const found = rightOf(access, right);
    if (!found) return whyUnknown(access);
    const [first = nobodyWords(access), ...others] = found.may;
    const not = found.not.length === 0 ? first : `${first}, but not ${found.not.join(", ")}`;
    return [not, ...others].join("; ");
}

/** The names of jobs, on one line. */
export function jobWords(jobs: Access["readers"] = []): string {
    return jobs.map(({ name }) => name).join("; ");
}

/** What the answer leaves out, as sentences. */
export function accessLeftOut({
    access = [],
    access_left_out: leftOut = 0,
}: Pick<Trace, "access" | "access_left_out">) {
    const cut = access.filter((each) => each.cut).length;
    const unknown = access.filter((each) => each.may_read === undefined).length;
    const others = notObserved(access);
    return [
        ...(others !== "" ? [`Not included: ${others}.`] : []),
        ...(unknown > 0 ? [`Of ${counted(unknown, "dataset")} it is not known who may read and write.`] : []),
        ...(cut > 0 ? [`Of ${counted(cut, "dataset")} not everybody is listed.`] : []),
        ...(leftOut > 0 ? [`${counted(leftOut, "dataset")} left out: reading took too long.`] : []),
    ];
}

/** Who may read and write each dataset, as rows of a file. */
export function accessRows(answer: Trace): (string | undefined)[][] {
    const nodes = new Map(answer.nodes.map((node) => [node.id, node]));
    return [
        ["namespace", "dataset", "may_read", "may_write", "read_by", "written_by", "reported", "not_included", "more"],
        ...(answer.access ?? []).map((each) => [
            ...[nodes.get(each.node)?.namespace, nodes.get(each.node)?.name],
            ...[rightWords(each, "read"), rightWords(each, "write"), jobWords(each.readers), jobWords(each.writers)],
            ...[each.observed, notObserved([each]), each.cut ? "yes" : ""],
        ]),
    ];
}
