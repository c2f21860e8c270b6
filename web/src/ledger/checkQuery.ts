/** A query that counts the rows of a table, and shows keys that stand in it more than once. Its parts in quotes are those of the name. */
export function checkQuery(name: string): string {
    const table = name
        .split(".")
        .map((part) => `"${part.replaceAll('"', '""')}"`)
        .join(".");
    return [
        `SELECT COUNT(*) AS row_count FROM ${table};`,
        "-- Put the key of the table in the place of key_column:",
        `SELECT key_column, COUNT(*) AS copies FROM ${table} GROUP BY key_column HAVING COUNT(*) > 1 ORDER BY copies DESC;`,
        "",
    ].join("\n");
}
