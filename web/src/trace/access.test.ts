import { expect, test } from "vitest";

import { traceOf } from "../address/trace";
import type { Schemas } from "../api/client";
import { accessLeftOut, accessRows, notObserved, rightWords } from "./access";
import { report } from "./report";
import { suggestionsCut } from "./suggestions";

const node = (id: string, kind: string, name: string) => ({ id, kind, namespace: "ns", name });
const JOB = node("9", "job", "mailer");
const ANSWER = {
    ...{ origin: node("1", "dataset", "raw"), field: "email", columns: [], flows: [], kept: [] },
    nodes: [node("1", "dataset", "raw"), node("2", "dataset", "lake"), node("3", "dataset", "theirs"), JOB],
    access: [
        {
            node: "1",
            may_read: [{ principal: "User:*" }, { principal: "User:sa-1", name: "billing" }],
            may_write: [],
            not_read: [{ principal: "User:eve" }],
            observed: "2026-05-01T00:00:00Z",
            not_observed: ["super_users", "policies"],
            readers: [JOB],
            cut: true,
        },
        { node: "2", collector: "kafka", writers: [JOB] },
        { node: "3", hidden: true },
    ],
    access_left_out: 4,
    suggestions: { items: [{ near: "1", near_field: "email", node: "2", field: "E_MAIL", job: "9" }], cut: "gaps" },
    coverage: { told: 0, untold: 1, gaps: [] },
    ...{ truncated: "", hidden: 0, resolution: "exact", settling: false, position: "", digest: "ab" },
} as unknown as Schemas["TraceAnswer"];
const READ = "everybody (User:*), but not User:eve; billing (User:sa-1)";
const OTHERS = "super users; role bindings, IAM policies and other rights that are no ACLs";
const UNKNOWN = "not known: a source of kind kafka reports it";

test("a file of who can see values has what is not known in words", () => {
    expect(accessRows(ANSWER).slice(1)).toEqual([
        ["ns", "raw", READ, "nobody", "mailer", "", "2026-05-01T00:00:00Z", OTHERS, "yes"],
        ["ns", "lake", UNKNOWN, UNKNOWN, "", "mailer", undefined, "", ""],
        ["ns", "theirs", "not shown to you", "not shown to you", "", "", undefined, "", ""],
    ]);
    expect(rightWords({ node: "4" }, "read")).toBe("not known: no source reports it for this system");
});

test("that no rule is for a dataset, and which rights are not observed, is in words", () => {
    const bare = { node: "5", may_read: [], may_write: [] };
    expect(rightWords(bare, "read")).toBe("nobody");
    expect(rightWords({ ...bare, no_rules: true }, "read")).toBe("nobody: no ACL is for it");
    expect(notObserved([{ not_observed: ["role_bindings"] }, {}, { not_observed: ["role_bindings", "new"] }])).toBe(
        "role bindings (RBAC), also those of administrators; new",
    );
});

test("what is not known is counted", () => {
    expect(accessLeftOut(ANSWER)).toEqual([
        `Not included: ${OTHERS}.`,
        "Of 2 datasets it is not known who may read and write.",
        "Of 1 dataset not everybody is listed.",
        "4 datasets left out: reading took too long.",
    ]);
    expect(accessLeftOut({})).toEqual([]);
});

test("a report has who could see the values, and suggestions apart from what is evident", () => {
    const view = { ...traceOf({ kind: "dataset", namespace: "ns", name: "raw" }, "email", "downstream"), at: "2026" };
    const lines = report(view, ANSWER, "").split("\n");
    expect(lines.slice(lines.indexOf("Who could see it:"), -3)).toEqual([
        "Who could see it:",
        `- \`raw\` in \`ns\`: may read \`${READ}\`, may write \`nobody\`, read by \`mailer\`, reported 2026-05-01T00:00:00Z`,
        `- \`lake\` in \`ns\`: ${UNKNOWN}, written by \`mailer\``,
        "- `theirs` in `ns`: not shown to you",
        ...accessLeftOut(ANSWER),
        "",
        "0 of 1 flow on the way has column evidence.",
        "- same name, no evidence (in no count and no digest): `email` of `raw` in `ns` ~ `E_MAIL` of `lake` in `ns`",
    ]);
});

test("it is said why there may be more suggestions", () => {
    expect(["", "suggestions", "gaps", "time"].map((cut) => suggestionsCut({ items: [], cut }))).toEqual([
        "",
        "There are more.",
        "There may be more: not all of these flows are listed.",
        "There may be more: looking for them took too long.",
    ]);
});
