import { show } from "../address/history";
import { impactWithin, rootsOf, withoutRoot, withRoot, type ImpactView } from "../address/impact";
import { keyOf, MOST_ROOTS } from "../address/nodes";
import { Icon } from "../parts/Icon";
import { ShortName } from "../parts/Name";
import { SearchField } from "../search/SearchField";

/** What the question is about, each of which can be left out if there are several, and the way to ask about one more. */
export function Roots({ view }: { view: ImpactView }) {
    const roots = rootsOf(view);
    return (
        <div className="roots">
            {roots.length > 1 && (
                <ul className="plain chips" aria-label="Of">
                    {roots.map((root) => (
                        <li key={keyOf(root)} className="chip">
                            <ShortName text={root.name} most={48} />
                            <button
                                type="button"
                                className="bare"
                                aria-label={`Without ${root.name}`}
                                onClick={() => show(withoutRoot(view, root))}
                            >
                                <Icon name="cross" />
                            </button>
                        </li>
                    ))}
                </ul>
            )}
            <details open={view.within !== ""}>
                <summary>Of everything in namespaces</summary>
                <form
                    key={view.within}
                    className="tools"
                    onSubmit={(event) => {
                        event.preventDefault();
                        const field = event.currentTarget.elements.namedItem("glob");
                        const glob = field instanceof HTMLInputElement ? field.value.trim() : "";
                        if (glob !== "") show({ ...impactWithin(glob), direction: view.direction, by: view.by });
                    }}
                >
                    <label>
                        Namespaces
                        <input name="glob" defaultValue={view.root.namespace} aria-describedby="glob-hint" />
                    </label>
                    <button type="submit">Show</button>
                    <span className="hint" id="glob-hint">
                        a cluster or system, such as kafka://*
                    </span>
                </form>
            </details>
            {view.within !== "" ? null : roots.length < MOST_ROOTS ? (
                <details>
                    <summary>And of another dataset or job</summary>
                    <SearchField key={roots.length} label="One more dataset or job" to={(ref) => withRoot(view, ref)} />
                </details>
            ) : (
                <p className="hint">A blast radius is of {MOST_ROOTS} nodes at most.</p>
            )}
        </div>
    );
}
