/** The questions of the lists, page by page. */

import { queryOptions } from "@tanstack/react-query";

import type { NodeRef } from "../address/view";
import type { WorkView } from "../address/work";
import { literal } from "../format/glob";
import { answered, client, paged, type Page, type Schemas } from "./client";

/** How many entries a page shows. */
export const PAGE = 50;
const LIVE_MS = 5_000;
const SLOW_MS = 15_000;
/** For questions that read much of the graph. */
const RARE_MS = 60_000;

export type Described = Schemas["ListedNode"];
export type Run = Schemas["RunItem"];
export type Sent = Schemas["SentEvent"];
export type Rejected = Schemas["QuarantineItem"];
export type Input = Schemas["InputItem"];
export type Source = Schemas["SourceItem"];
export type Target = Schemas["TargetItem"];
/** A task; what it has only later is null until then, which the description says in a way that the client's generator passes over. */
export type Task = Omit<Schemas["TaskItem"], Later> & { [Key in Later]: Schemas["TaskItem"][Key] | null };
type Later = "started_at" | "completed_at" | "result" | "error";
export type Key = Schemas["KeyItem"];
export type BrowserSession = Schemas["SessionItem"];
export type Alias = Schemas["AliasItem"];

/** A list that the server answers whole, as a page. */
function slice<T>(items: T[], offset: number): Page<T> {
    return { items: items.slice(offset, offset + PAGE), hasNext: items.length > offset + PAGE };
}

type Asked = Pick<WorkView, "filters" | "offset">;

export const datasets = ({ filters, offset }: Asked) =>
    queryOptions({
        queryKey: ["datasets", filters, offset],
        queryFn: ({ signal }) => {
            const query = { ...filters, details: true, limit: PAGE, offset };
            return paged(client.GET("/api/v1/lineage/datasets", { signal, params: { query } }), (items) => items);
        },
        refetchInterval: SLOW_MS,
    });

export const jobs = ({ filters, offset }: Asked) =>
    queryOptions({
        queryKey: ["jobs", filters, offset],
        queryFn: ({ signal }) => {
            const query = { ...filters, details: true, limit: PAGE, offset };
            return paged(client.GET("/api/v1/lineage/jobs", { signal, params: { query } }), (items) => items);
        },
        ...(filters.type === undefined && filters.state === undefined
            ? { refetchInterval: SLOW_MS }
            : { refetchInterval: RARE_MS, staleTime: RARE_MS }),
    });

export const aliases = ({ filters, offset }: Asked) =>
    queryOptions({
        queryKey: ["alias list", filters, offset],
        queryFn: ({ signal }) => {
            const query = { ...filters, limit: PAGE, offset };
            return paged(client.GET("/api/v1/aliases", { signal, params: { query } }), (answer) => answer.aliases);
        },
    });

/** The latest schema changes of all datasets. */
export const schemaChanges = queryOptions({
    queryKey: ["schema changes"],
    queryFn: ({ signal }) => answered(client.GET("/api/v1/graph/schemas/changes", { signal })),
    refetchInterval: RARE_MS,
});

export type Drift = Schemas["DriftItem"];

/** Where jobs differ from their declarations; the offset counts declared jobs. */
export const drifts = ({ filters, offset }: Asked) =>
    queryOptions({
        queryKey: ["drift list", filters, offset],
        queryFn: async ({ signal }): Promise<Page<Drift>> => {
            const query = { ...filters, limit: PAGE, offset };
            const { drifts: items, next } = await answered(
                client.GET("/api/v1/graph/drift", { signal, params: { query } }),
            );
            return next === undefined ? { items, hasNext: false } : { items, hasNext: true, next };
        },
        refetchInterval: SLOW_MS,
    });

/** The runs of a job, the one with the latest event first. */
export const runsOfJob = ({ filters, offset }: Asked) =>
    queryOptions({
        queryKey: ["run list", filters, offset],
        queryFn: ({ signal }) => {
            const query = { ...filters, limit: PAGE, offset };
            return paged(client.GET("/api/v1/graph/runs", { signal, params: { query } }), (answer) => answer.runs);
        },
        refetchInterval: SLOW_MS,
    });

/** A run with all runs inside of it. */
export const runTree = (run: string) =>
    queryOptions({
        queryKey: ["run tree", run],
        queryFn: ({ signal }) =>
            answered(
                client.GET("/api/v1/graph/runs/{run_id}/tree", {
                    signal,
                    params: { path: { run_id: run }, query: { limit: 500 } },
                }),
            ),
        refetchInterval: SLOW_MS,
    });

/** Events as they were sent: of all jobs, the newest first, or of one run, the oldest first. */
export const events = ({ filters, offset }: Asked, limit = PAGE) =>
    queryOptions({
        queryKey: ["events", filters, offset, limit],
        queryFn: ({ signal }) => {
            const { run, ...others } = filters;
            const query = { limit, offset, records: true };
            const call =
                run === undefined
                    ? client.GET("/api/v1/lineage/events", { signal, params: { query: { ...others, ...query } } })
                    : client.GET("/api/v1/lineage/events/{run_id}", {
                          signal,
                          params: { path: { run_id: run }, query },
                      });
            return paged(call, (items) => items as Sent[]);
        },
        refetchInterval: offset === 0 ? LIVE_MS : false,
    });

/** The events behind a node, the newest first: those of a job, or those that named a dataset, the first and the last of each run and day. */
export const eventsOfNode = ({ kind, namespace, name }: NodeRef, limit: number, offset: number) =>
    queryOptions({
        queryKey: ["events", kind, namespace, name, limit, offset],
        queryFn: ({ signal }) => {
            const node =
                kind === "job"
                    ? { namespace: literal(namespace), job: literal(name) }
                    : { dataset_namespace: namespace, dataset: name };
            const query = { ...node, limit, offset, records: true };
            return paged(
                client.GET("/api/v1/lineage/events", { signal, params: { query } }),
                (items) => items as Sent[],
            );
        },
    });

export interface QuarantinePage extends Page<Rejected> {
    counts: Record<string, number>;
}

export const quarantine = ({ filters, offset }: Asked) =>
    queryOptions({
        queryKey: ["quarantine list", filters, offset],
        queryFn: async ({ signal }): Promise<QuarantinePage> => {
            let counts = {};
            const query = { ...filters, limit: PAGE, offset };
            const page = await paged(client.GET("/api/v1/quarantine", { signal, params: { query } }), (answer) => {
                counts = answer.counts;
                return answer.items;
            });
            return { ...page, counts };
        },
        refetchInterval: SLOW_MS,
    });

export const tasks = ({ filters, offset }: Asked) =>
    queryOptions({
        queryKey: ["tasks", filters, offset],
        queryFn: ({ signal }): Promise<Page<Task>> => {
            const query = { ...(filters as { status?: TaskStatus }), limit: PAGE, offset };
            return paged(client.GET("/api/v1/tasks", { signal, params: { query } }), (items) => items);
        },
        refetchInterval: LIVE_MS,
    });

type TaskStatus = "pending" | "running" | "completed" | "failed";

export const task = (id: string) =>
    queryOptions({
        queryKey: ["tasks", id],
        queryFn: ({ signal }): Promise<Task> =>
            answered(client.GET("/api/v1/tasks/{task_id}", { signal, params: { path: { task_id: id } } })),
        refetchInterval: ({ state }) => (state.data?.completed_at ? false : 2_000),
    });

/** The lists of systems that are added with the settings of a kind. */
export type SystemList = "sources" | "inputs" | "targets";

/** What an entry of each is called, behind its article. */
export const SINGULAR: Record<SystemList, readonly [string, "source" | "input" | "target"]> = {
    sources: ["a", "source"],
    inputs: ["an", "input"],
    targets: ["a", "target"],
};

/** The kinds of what can be added to a list, with their settings. */
export const kinds = (list: SystemList) =>
    queryOptions({
        queryKey: ["kinds", list],
        queryFn: ({ signal }) => answered(client.GET(`/api/v1/${SINGULAR[list][1]}-kinds`, { signal })),
        staleTime: Infinity,
    });

export const inputs = (offset: number) =>
    queryOptions({
        queryKey: ["inputs"],
        queryFn: ({ signal }) => answered(client.GET("/api/v1/inputs", { signal })),
        select: (answer) => slice(answer.inputs, offset),
        refetchInterval: LIVE_MS,
    });

export const input = (name: string) =>
    queryOptions({
        queryKey: ["inputs", name],
        queryFn: ({ signal }) => answered(client.GET("/api/v1/inputs/{name}", { signal, params: { path: { name } } })),
        refetchInterval: LIVE_MS,
    });

export const sources = (offset: number) =>
    queryOptions({
        queryKey: ["sources"],
        queryFn: ({ signal }) => answered(client.GET("/api/v1/sources", { signal })),
        select: (answer) => slice(answer.sources, offset),
        refetchInterval: LIVE_MS,
    });

export const source = (name: string) =>
    queryOptions({
        queryKey: ["sources", name],
        queryFn: ({ signal }) => answered(client.GET("/api/v1/sources/{name}", { signal, params: { path: { name } } })),
        refetchInterval: LIVE_MS,
    });

export const targets = (offset: number) =>
    queryOptions({
        queryKey: ["targets"],
        queryFn: ({ signal }) => answered(client.GET("/api/v1/targets", { signal })),
        select: (answer) => slice(answer.targets, offset),
        refetchInterval: LIVE_MS,
    });

export const target = (name: string) =>
    queryOptions({
        queryKey: ["targets", name],
        queryFn: ({ signal }) => answered(client.GET("/api/v1/targets/{name}", { signal, params: { path: { name } } })),
        refetchInterval: LIVE_MS,
    });

/** The last plan or publication of a target. */
export const publication = (name: string, isContinuous: boolean) =>
    queryOptions({
        queryKey: ["targets", name, "publication", isContinuous],
        queryFn: ({ signal }) =>
            answered(
                client.GET("/api/v1/targets/{name}/publication", {
                    signal,
                    params: { path: { name }, query: { continuous: isContinuous } },
                }),
            ),
        refetchInterval: ({ state }) => (state.data?.state === "running" ? 1_000 : LIVE_MS),
    });

/** What was published to a target, behind an object that a page before ended with. */
export const published = (name: string, after: string) =>
    queryOptions({
        queryKey: ["targets", name, "ledger", after],
        queryFn: ({ signal }) =>
            answered(
                client.GET("/api/v1/targets/{name}/ledger", {
                    signal,
                    params: { path: { name }, query: { after, limit: PAGE } },
                }),
            ),
    });

export const keys = (offset: number) =>
    queryOptions({
        queryKey: ["keys"],
        queryFn: ({ signal }) => answered(client.GET("/api/v1/keys", { signal })),
        select: (answer) => slice(answer.keys, offset),
    });

export const sessions = ({ filters, offset }: Asked) =>
    queryOptions({
        queryKey: ["sessions", filters, offset],
        queryFn: ({ signal }) => {
            const query = { ...filters, limit: PAGE, offset };
            return paged(client.GET("/api/v1/sessions", { signal, params: { query } }), (answer) => answer.sessions);
        },
    });
