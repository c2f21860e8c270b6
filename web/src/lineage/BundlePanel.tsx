import { ViewLink } from "../address/history";
import { lineageOf } from "../address/view";
import { Icon } from "../parts/Icon";
import { FullName } from "../parts/Name";
import { State } from "../parts/State";
import type { PictureNode } from "./picture/picture";

interface Props {
    bundle: PictureNode;
    members: readonly PictureNode[];
    takeApart: (id: string) => void;
}

/** The nodes that one node of the picture stands for, beside the picture. */
export function BundlePanel({ bundle, members, takeApart }: Props) {
    return (
        <aside className="side" aria-label="Selected node">
            <header>
                <Icon name="consumer_group" />
                <h2>{bundle.name}</h2>
                <p className="hint">They read the same, and write nothing.</p>
                <p className="tools">
                    <button type="button" onClick={() => takeApart(bundle.id)} title="Show each (D)">
                        <Icon name="graph" />
                        Show each
                    </button>
                </p>
            </header>
            <ul className="plain rows">
                {members.map(({ id, kind, namespace, name, details }) => (
                    <li key={id}>
                        <ViewLink className="row-name" to={lineageOf({ kind, namespace, name })}>
                            <FullName namespace={namespace} name={name} />
                        </ViewLink>
                        {details?.state !== undefined && <State state={details.state} />}
                    </li>
                ))}
            </ul>
        </aside>
    );
}
