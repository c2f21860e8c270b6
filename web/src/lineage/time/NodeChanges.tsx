import { useQuery } from "@tanstack/react-query";

import type { NodeRef } from "../../address/view";
import { facetHistory, schemaDiff } from "../../api/questions";
import { moment } from "../../format/text";
import { Answer } from "../../parts/Messages";
import { Name } from "../../parts/Name";
import { wordsOf, type Mark } from "./comparison";

/** What changed at a node between the two times of the view. */
export function NodeChanges({ node, marks }: { node: NodeRef; marks: readonly Mark[] }) {
    return (
        <ol className="plain node-changes">
            {marks.map((mark) => (
                <li key={`${mark.at} ${mark.what} ${mark.text ?? ""}`}>
                    <h3>
                        {moment(mark.at)}: {wordsOf(mark)}
                    </h3>
                    {mark.what === "schema" ? (
                        <SchemaChange node={node} mark={mark} />
                    ) : (
                        <CodeChange node={node} mark={mark} />
                    )}
                </li>
            ))}
        </ol>
    );
}

function SchemaChange({ node, mark }: { node: NodeRef; mark: Mark }) {
    return (
        <Answer query={useQuery(schemaDiff(node, mark.before ?? "", mark.text ?? ""))}>
            {({ added, removed, changed }) => (
                <ul className="plain diff">
                    {added.map(({ path, type }) => (
                        <li key={`+${path.join(".")}`} className="added">
                            <b>added</b> <Name text={path.join(".")} /> <code>{type ?? ""}</code>
                        </li>
                    ))}
                    {removed.map(({ path, type }) => (
                        <li key={`-${path.join(".")}`} className="removed">
                            <b>removed</b> <Name text={path.join(".")} /> <code>{type ?? ""}</code>
                        </li>
                    ))}
                    {changed.map(({ path, before, after }) => (
                        <li key={`~${path.join(".")}`}>
                            <b>changed</b> <Name text={path.join(".")} />{" "}
                            <code>
                                {before ?? "?"} → {after ?? "?"}
                            </code>
                        </li>
                    ))}
                </ul>
            )}
        </Answer>
    );
}

function CodeChange({ node, mark }: { node: NodeRef; mark: Mark }) {
    return (
        <Answer query={useQuery(facetHistory(node, mark.text ?? ""))} kind="job">
            {({ history }) => {
                const found = history.find(({ first }) => first.at === mark.at);
                const old = history.find(({ hash }) => hash === mark.before);
                return (
                    <>
                        <pre className="removed">{textOf(old?.facet)}</pre>
                        <pre className="added">{textOf(found?.facet)}</pre>
                    </>
                );
            }}
        </Answer>
    );
}

/** What a facet says, without what says where it comes from. */
function textOf(facet: unknown): string {
    if (typeof facet !== "object" || facet === null) return "not stored";
    const members = Object.entries(facet).filter(([key]) => !key.startsWith("_"));
    const [only] = members;
    if (members.length === 1 && only && typeof only[1] === "string") return only[1];
    return JSON.stringify(Object.fromEntries(members), null, 2);
}
