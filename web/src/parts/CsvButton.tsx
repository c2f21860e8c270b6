import { csv } from "../format/text";
import { Icon } from "./Icon";
import { saveFile } from "./save";

/** Saves rows, the first of them the heads, as a file. */
export function CsvButton({ name, rows }: { name: string; rows: () => (string | number | undefined)[][] }) {
    return (
        <button type="button" onClick={() => saveFile(`${name}.csv`, new Blob([csv(rows())], { type: "text/csv" }))}>
            <Icon name="download" />
            CSV
        </button>
    );
}
