import { useQuery } from "@tanstack/react-query";

import { ViewLink } from "../address/history";
import type { SearchView } from "../address/view";
import { search } from "../api/questions";
import { counted } from "../format/text";
import { Icon } from "../parts/Icon";
import { Answer, Empty } from "../parts/Messages";
import { FullName, Name } from "../parts/Name";
import { foundIcon, foundView } from "./found";
import { SearchField } from "./SearchField";

const MOST = 200;

export function SearchResults({ view }: { view: SearchView }) {
    const found = useQuery(search(view.text, MOST));
    return (
        <div className="column">
            <SearchField />
            <h1>
                Results for “<Name text={view.text} />”
            </h1>
            <Answer query={found}>
                {({ results, truncated }) =>
                    results.length === 0 ? (
                        <Empty title="Nothing matches">
                            <p>
                                Every word has to be part of a name, or begin a word of a column, owner, tag,
                                description or SQL.
                            </p>
                        </Empty>
                    ) : (
                        <>
                            <p className="hint">
                                {counted(results.length, "match", "matches")}
                                {(truncated === true || results.length === MOST) && "; there may be more: add a word"}
                            </p>
                            <ul className="plain results">
                                {results.map((node) => (
                                    <li key={node.id}>
                                        <ViewLink to={foundView(node)}>
                                            <Icon name={foundIcon(node)} />
                                            <FullName {...node} />
                                        </ViewLink>
                                        {node.matched?.map((line) => (
                                            <p key={`${line.in} ${line.text}`} className="hint">
                                                {line.in}: <Name text={line.text} />
                                            </p>
                                        ))}
                                    </li>
                                ))}
                            </ul>
                        </>
                    )
                }
            </Answer>
        </div>
    );
}
