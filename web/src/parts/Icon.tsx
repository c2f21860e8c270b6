/** Icons: of what a node is, so that a topic is not a table and a stream no batch, and of what a button does. */

const PATHS = {
    kafka_topic: "M2.5 4h11M2.5 8h11M2.5 12h11M5 2.6v2.8M8 6.6v2.8M11 10.6v2.8",
    table: "M2.5 3h11v10h-11zM2.5 6.3h11M2.5 9.6h11M6.5 6.3V13",
    tableflow_table: "M2.5 3h11v10h-11zM2.5 6.3h11M2.5 9.6h11M5 12l2-1 2 1 2-1",
    schema: "M6 2.5c-2 0-2 1-2 2.5S4 8 2.5 8C4 8 4 9.5 4 11s0 2.5 2 2.5M10 2.5c2 0 2 1 2 2.5s0 3 1.5 3C12 8 12 9.5 12 11s0 2.5-2 2.5",
    dashboard: "M2.5 13.5V9h3v4.5zM6.5 13.5V3h3v10.5zM10.5 13.5V6h3v7.5z",
    file: "M4 2h5l3 3v9H4zM9 2v3h3",
    connector: "M5.5 2v4M10.5 2v4M3.5 6h9v2.5a4.5 4.5 0 0 1-9 0zM8 13v2",
    flink_job: "M1.5 6c2-3 4-3 6.5 0s4.5 3 6.5 0M1.5 11c2-3 4-3 6.5 0s4.5 3 6.5 0",
    stream: "M1.5 8c2-4 4-4 6.5 0s4.5 4 6.5 0",
    consumer_group: "M2.5 8h8M7.5 5l3 3-3 3M13.5 3v10",
    producer: "M2.5 3v10M5.5 8h8M10.5 5l3 3-3 3",
    dbt_job: "M8 2l5 3v6l-5 3-5-3V5zM8 8l5-3M8 8v6M8 8L3 5",
    spark_job: "M8 1.5l1.8 4.2 4.7.3-3.6 3 1.2 4.5L8 11l-4.1 2.5 1.2-4.5-3.6-3 4.7-.3z",
    airflow_task: "M3 4.5h4v3H3zM9 8.5h4v3H9zM7 6h4v2.5",
    job: "M3 8a5 5 0 1 0 10 0A5 5 0 1 0 3 8M8 5v3l2 1.5",
    search: "M2.5 7a4.5 4.5 0 1 0 9 0a4.5 4.5 0 1 0-9 0M10.5 10.5L14 14",
    upstream: "M13.5 8h-10M7 4L3 8l4 4",
    downstream: "M2.5 8h10M9 4l4 4-4 4",
    columns: "M3 3h10v10H3zM6.3 3v10M9.6 3v10",
    list: "M6 4h8M6 8h8M6 12h8M2.5 4h.5M2.5 8h.5M2.5 12h.5",
    estate: "M2 2.5h5v4H2zM9 9.5h5v4H9zM7 4.5h4.5v5",
    graph: "M2 8h4M10 4h4M10 12h4M6 8l4-4M6 8l4 4",
    ledger: "M3 2.5h10v11H3zM5.5 5.5h5M5.5 8h5M5.5 10.5h2.5",
    blast: "M8 8m-1.5 0a1.5 1.5 0 1 0 3 0a1.5 1.5 0 1 0-3 0M8 1.5v2.5M8 12v2.5M1.5 8H4M12 8h2.5M3.4 3.4l1.8 1.8M10.8 10.8l1.8 1.8M3.4 12.6l1.8-1.8M10.8 5.2l1.8-1.8",
    shield: "M8 1.5l5.5 2v4c0 3.5-2.3 5.8-5.5 7-3.2-1.2-5.5-3.5-5.5-7v-4zM5.5 8l2 2 3-3.5",
    warning: "M8 2l6.5 11.5h-13zM8 6.5v3M8 11.5v.3",
    check: "M3 8.5l3.2 3.2L13 5",
    cross: "M4 4l8 8M12 4l-8 8",
    pause: "M5.5 3.5v9M10.5 3.5v9",
    clock: "M2.5 8a5.5 5.5 0 1 0 11 0a5.5 5.5 0 1 0-11 0M8 4.5V8l2.5 1.5",
    link: "M6.5 9.5l3-3M7 4.5l1.5-1.5a3 3 0 0 1 4.5 4.5L11.5 9M9 11.5L7.5 13A3 3 0 0 1 3 8.5L4.5 7",
    copy: "M5.5 5.5h8v8h-8zM10.5 5.5v-3h-8v8h3",
    download: "M8 2v8M5 7.5l3 3 3-3M2.5 13.5h11",
    filter: "M2 3h12L9.5 8.5V13l-3-1.5v-3z",
    sun: "M5 8a3 3 0 1 0 6 0a3 3 0 1 0-6 0M8 1v1.5M8 13.5V15M1 8h1.5M13.5 8H15M3 3l1 1M12 12l1 1M3 13l1-1M12 4l1-1",
    question: "M5.5 6a2.5 2.5 0 1 1 3.5 2.3c-.7.4-1 .8-1 1.7M8 12.2v.3",
    dot: "M6 8a2 2 0 1 0 4 0a2 2 0 1 0-4 0",
} as const;

export type IconName = keyof typeof PATHS;

export function Icon({ name }: { name: IconName }) {
    return (
        <svg className="icon" viewBox="0 0 16 16" aria-hidden="true" focusable="false">
            <path d={PATHS[name]} />
        </svg>
    );
}

const DASHBOARDS = new Set(["looker", "tableau", "powerbi", "superset", "metabase"]);
const FILES = new Set(["s3", "gs", "file", "hdfs", "abfss", "wasbs", "dbfs", "s3a"]);

/** The icon of a dataset or job, by the type and the system that the server names. */
export function iconOf(kind: string, type: string, system: string): IconName {
    if (type in PATHS) return type as IconName;
    if (kind === "job") return type === "ksqldb_query" || type === "streams_application" ? "stream" : "job";
    if (DASHBOARDS.has(system)) return "dashboard";
    return FILES.has(system) ? "file" : "table";
}
