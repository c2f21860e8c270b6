import { Handle, Position, type Node as FlowNode, type NodeProps } from "@xyflow/react";
import { createContext, memo, useContext, useEffect, type RefObject } from "react";

import type { Direction } from "../../address/view";
import { whole } from "../../format/text";
import { focusNode } from "../../graph/nearest";
import { Icon, iconOf } from "../../parts/Icon";
import { ShortName } from "../../parts/Name";
import { State } from "../../parts/State";
import { COLUMNS_SHOWN, isLong, shortName, typeWords } from "./cardSize";
import { columnKey, type ColumnRef, type PictureNode } from "../picture/picture";
import type { Change } from "../time/comparison";

/** What a card can be asked to do. */
export interface CardActions {
    expand: (id: string, direction: Direction) => void;
    fold: (id: string, direction: Direction) => void;
    /** Picks a node for a question about several, or leaves it again. */
    pick: (node: PictureNode) => void;
    /** Shows the members of a bundle. */
    takeApart: (id: string) => void;
    chooseColumn: (column: ColumnRef) => void;
    /** The id of the card that gets the focus as soon as it is there; empty if none does. */
    awaited: RefObject<string>;
}

export const Actions = createContext<CardActions>({
    expand: () => undefined,
    fold: () => undefined,
    pick: () => undefined,
    takeApart: () => undefined,
    chooseColumn: () => undefined,
    awaited: { current: "" },
});

export interface CardData extends Record<string, unknown> {
    node: PictureNode;
    isRoot: boolean;
    isPicked: boolean;
    /** Data goes down, not to the right. */
    isDown: boolean;
    /** How it differs from the earlier time, where two times are compared. */
    change: Change | undefined;
    /** Names of its columns, where they are shown. */
    columns: string[] | undefined;
    /** Keys of the columns on the way of the chosen one. */
    related: ReadonlySet<string>;
    /** Keys of columns with lineage. */
    traced: ReadonlySet<string>;
    expanded: readonly Direction[];
}

export type CardNode = FlowNode<CardData, "card">;

const CHANGES: Record<Change, string> = { appeared: "+ added", disappeared: "− removed", changed: "• changed" };

export const NodeCard = memo(function NodeCard({ data, selected }: NodeProps<CardNode>) {
    const { node, isRoot, isPicked, isDown, change, columns, related, traced, expanded } = data;
    const { details } = node;
    const actions = useContext(Actions);
    const { awaited } = actions;
    useEffect(() => {
        if (awaited.current !== node.id) return;
        awaited.current = "";
        focusNode(node.id);
    }, [awaited, node.id]);
    const way = (direction: Direction) => {
        const hidden = node.hidden[direction];
        const isExpanded = expanded.includes(direction);
        if (hidden === 0 && !isExpanded) return null;
        const words = isExpanded ? `Fold what is ${direction}` : `Show ${whole(hidden)} more ${direction}`;
        return (
            <button
                type="button"
                tabIndex={-1}
                className={`more ${direction} nodrag`}
                title={words}
                aria-label={words}
                onClick={(event) => {
                    event.stopPropagation();
                    (isExpanded ? actions.fold : actions.expand)(node.id, direction);
                }}
            >
                {isExpanded ? "−" : `+${whole(hidden)}`}
            </button>
        );
    };
    return (
        <div
            className={[
                "node",
                node.kind,
                isRoot && "root",
                isPicked && "picked",
                selected && "chosen",
                node.dropped && "dropped",
                change,
            ]
                .filter(Boolean)
                .join(" ")}
        >
            <Handle type="target" position={isDown ? Position.Top : Position.Left} isConnectable={false} />
            <Handle type="source" position={isDown ? Position.Bottom : Position.Right} isConnectable={false} />
            {isRoot && <span className="start">start</span>}
            {isPicked && (
                <span className="tick">
                    <Icon name="check" />
                </span>
            )}
            {change && <span className={`change ${change}`}>{CHANGES[change]}</span>}
            <div className={isLong(node) ? "node-title long" : "node-title"}>
                <span className="tile">
                    <Icon name={iconOf(node.kind, details?.node_type ?? "", details?.system ?? "")} />
                </span>
                <span className="words">
                    <ShortName text={shortName(node)} most={64} />
                    <small>
                        {typeWords(node)}
                        {details?.state !== undefined && <State state={details.state} />}
                    </small>
                </span>
            </div>
            {columns && (
                <ul className="columns nodrag">
                    {columns.slice(0, COLUMNS_SHOWN).map((field) => {
                        const key = columnKey({ node: node.id, field });
                        return (
                            <li key={field} className={related.has(key) ? "related" : ""}>
                                <button
                                    type="button"
                                    tabIndex={-1}
                                    disabled={!traced.has(key)}
                                    aria-pressed={related.has(key)}
                                    onClick={(event) => {
                                        event.stopPropagation();
                                        actions.chooseColumn({ node: node.id, field });
                                    }}
                                >
                                    <ShortName text={field} most={30} />
                                    {traced.has(key) && <i className="has-lineage" title="has column lineage" />}
                                </button>
                                <Handle
                                    id={`in:${field}`}
                                    type="target"
                                    position={Position.Left}
                                    isConnectable={false}
                                    className="column-handle"
                                />
                                <Handle
                                    id={`out:${field}`}
                                    type="source"
                                    position={Position.Right}
                                    isConnectable={false}
                                    className="column-handle"
                                />
                            </li>
                        );
                    })}
                    {columns.length > COLUMNS_SHOWN && (
                        <li className="hint">and {columns.length - COLUMNS_SHOWN} more, at the side</li>
                    )}
                </ul>
            )}
            {node.members && (
                <button
                    type="button"
                    tabIndex={-1}
                    className="more downstream nodrag"
                    title={`Show ${node.name}`}
                    aria-label={`Show ${node.name}`}
                    onClick={(event) => {
                        event.stopPropagation();
                        actions.takeApart(node.id);
                    }}
                >
                    +{whole(node.members.length)}
                </button>
            )}
            {way("upstream")}
            {way("downstream")}
        </div>
    );
});
