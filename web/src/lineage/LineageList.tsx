import { keyOf } from "../address/nodes";
import type { NodeRef } from "../address/view";
import { visible, whole as count } from "../format/text";
import { Icon, iconOf } from "../parts/Icon";
import { FullName, Name, ShortName } from "../parts/Name";
import { State } from "../parts/State";
import { CsvButton } from "../parts/CsvButton";
import { shortName } from "./canvas/cardSize";
import { throughWords } from "./picture/edges";
import { linkRows } from "./export/texts";
import type { CardActions } from "./canvas/NodeCard";
import { isPicked, type Picture, type PictureNode } from "./picture/picture";
import { usePulse } from "./pulse/store";
import type { Change } from "./time/comparison";

interface Props {
    picture: Picture;
    isSeen: (id: string) => boolean;
    /** How nodes and links differ from the earlier time, where two times are compared. */
    changes: ReadonlyMap<string, Change> | undefined;
    rootId: string;
    selectedId: string;
    picked: readonly NodeRef[];
    actions: CardActions;
    select: (id: string) => void;
}

/** The picture as a table: the same nodes and links as the graph. */
export function LineageList({ picture: whole, isSeen, changes, rootId, selectedId, picked, actions, select }: Props) {
    const { flows } = usePulse();
    const keys = new Set(picked.map(keyOf));
    const picture = {
        ...whole,
        nodes: whole.nodes.filter(({ id }) => isSeen(id)),
        links: whole.links.filter(({ id }) => isSeen(id)),
    };
    const byId = new Map(picture.nodes.map((node) => [node.id, node]));
    const names = (ids: string[]) => ids.flatMap((id) => byId.get(id) ?? []);
    const rows = picture.nodes.map((node) => ({
        node,
        from: names(picture.links.filter(({ target }) => target === node.id).map(({ source }) => source)),
        to: names(picture.links.filter(({ source }) => source === node.id).map(({ target }) => target)),
    }));
    const links = new Map(picture.links.map((link) => [link.id, link]));
    const labelOf = (id: string) => {
        const link = links.get(id);
        return flows?.get(id)?.label ?? (link && throughWords(link));
    };
    const more = (node: PictureNode, direction: "upstream" | "downstream") =>
        node.hidden[direction] > 0 && (
            <button type="button" onClick={() => actions.expand(node.id, direction)}>
                +{count(node.hidden[direction])} more
            </button>
        );
    return (
        <div className="table-frame">
            <CsvButton name="lineage" rows={() => linkRows(picture, { changes, flows })} />
            <table>
                <caption className="visually-hidden">
                    Nodes of the lineage, with what they get data from and give it to
                </caption>
                <thead>
                    <tr>
                        <th scope="col" className="pick">
                            <span className="visually-hidden">Picked</span>
                        </th>
                        <th scope="col">Name</th>
                        <th scope="col">Owner</th>
                        <th scope="col">State</th>
                        {changes && <th scope="col">Change</th>}
                        <th scope="col">From</th>
                        <th scope="col">To</th>
                    </tr>
                </thead>
                <tbody>
                    {rows.map(({ node, from, to }) => (
                        <tr key={node.id} className={node.id === selectedId ? "chosen" : ""}>
                            <td className="pick">
                                <input
                                    type="checkbox"
                                    aria-label={`Pick ${visible(node.name)}`}
                                    checked={isPicked(node, keys)}
                                    onChange={() => actions.pick(node)}
                                />
                            </td>
                            <th scope="row">
                                <button
                                    type="button"
                                    className="row-name"
                                    aria-pressed={node.id === selectedId}
                                    onClick={() => select(node.id)}
                                >
                                    <Icon
                                        name={iconOf(
                                            node.kind,
                                            node.details?.node_type ?? "",
                                            node.details?.system ?? "",
                                        )}
                                    />
                                    <FullName {...node} />
                                </button>
                                {node.id === rootId && <span className="chip">start</span>}
                                {node.members && (
                                    <>
                                        <ul className="plain">
                                            {node.members.map((member) => (
                                                <li key={member.id}>
                                                    <small>
                                                        <ShortName text={shortName(member)} most={80} />
                                                    </small>
                                                </li>
                                            ))}
                                        </ul>
                                        <button type="button" onClick={() => actions.takeApart(node.id)}>
                                            Show each
                                        </button>
                                    </>
                                )}
                            </th>
                            <td>
                                {node.details?.owners?.map((owner) => (
                                    <Name key={owner} text={owner} />
                                ))}
                            </td>
                            <td>{node.details?.state !== undefined && <State state={node.details.state} />}</td>
                            {changes && <td>{changes.get(node.id) ?? ""}</td>}
                            <td>
                                <Ends nodes={from} labelOf={({ id }) => labelOf(`${id}>${node.id}`)} select={select} />
                                {more(node, "upstream")}
                            </td>
                            <td>
                                <Ends nodes={to} labelOf={({ id }) => labelOf(`${node.id}>${id}`)} select={select} />
                                {more(node, "downstream")}
                            </td>
                        </tr>
                    ))}
                </tbody>
            </table>
        </div>
    );
}

interface EndsProps {
    nodes: PictureNode[];
    /** What flows between it and the node of the row. */
    labelOf: (node: PictureNode) => string | undefined;
    select: (id: string) => void;
}

function Ends({ nodes, labelOf, select }: EndsProps) {
    return (
        <ul className="plain">
            {nodes.map((node) => (
                <li key={node.id}>
                    <button type="button" className="row-name" onClick={() => select(node.id)}>
                        <FullName {...node} />
                    </button>
                    <small>{labelOf(node) ?? ""}</small>
                </li>
            ))}
        </ul>
    );
}
