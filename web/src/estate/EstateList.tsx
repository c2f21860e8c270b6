import { whole } from "../format/text";
import { Icon } from "../parts/Icon";
import { ShortName } from "../parts/Name";
import { Table, type Column } from "../parts/Table";
import { flowWords, iconOfSystem, type EstateItem } from "./estate";

interface Props {
    items: readonly EstateItem[];
    selected: string;
    select: (id: string) => void;
}

/** The estate as a table: the same nodes and flows as the graph. */
export function EstateList({ items, selected, select }: Props) {
    const titles = new Map(items.map(({ node, title }) => [node.id, title]));
    const flows = (found: EstateItem["to"], end: "source" | "target") => (
        <ul className="plain">
            {found.map((flow) => (
                <li key={flow[end]}>
                    <button type="button" className="row-name" onClick={() => select(flow[end])}>
                        <ShortName text={titles.get(flow[end]) ?? ""} most={60} />
                    </button>
                    <small className="amount">{flowWords(flow)}</small>
                </li>
            ))}
        </ul>
    );
    const columns: Column<EstateItem>[] = [
        {
            head: "Name",
            isWide: true,
            cell: ({ node, title }) => (
                <button
                    type="button"
                    className="row-name"
                    aria-pressed={node.id === selected}
                    onClick={() => select(node.id)}
                >
                    <Icon name={iconOfSystem(node.system)} />
                    <ShortName text={title} most={80} />
                </button>
            ),
        },
        { head: "System", cell: ({ node }) => <ShortName text={node.system || "—"} most={40} /> },
        { head: "Datasets", isNumber: true, cell: ({ node }) => whole(node.datasets) },
        { head: "Inside", cell: ({ inside }) => (inside ? flowWords(inside) : "—") },
        { head: "Only read", isNumber: true, cell: ({ node }) => whole(node.readers) },
        { head: "Only write", isNumber: true, cell: ({ node }) => whole(node.writers) },
        { head: "From", cell: ({ from }) => flows(from, "source") },
        { head: "To", cell: ({ to }) => flows(to, "target") },
    ];
    return <Table label="Estate" columns={columns} rows={items} keyOf={({ node }) => node.id} />;
}
