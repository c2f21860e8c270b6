import { csv } from "../format/text";
import { Icon } from "./Icon";

/** Saves rows, the first of them the heads, as a file. */
export function CsvButton({ name, rows }: { name: string; rows: () => (string | number | undefined)[][] }) {
    const save = () => {
        const url = URL.createObjectURL(new Blob([csv(rows())], { type: "text/csv" }));
        const link = document.createElement("a");
        link.href = url;
        link.download = `${name}.csv`;
        link.click();
        URL.revokeObjectURL(url);
    };
    return (
        <button type="button" onClick={save}>
            <Icon name="download" />
            CSV
        </button>
    );
}
