import { keepPreviousData, queryOptions } from "@tanstack/react-query";

import type { EstateView } from "../address/estate";
import type { Direction, NodeRef } from "../address/view";
import type { TraceView } from "../address/trace";
import { answered, client, type Schemas } from "./client";
import { lasting, type Neighbourhood } from "./neighbourhoods";
import { keepFirst, reread } from "./rereading";

const LIVE_MS = 15_000;
const PULSE_MS = 5_000;

/** Who asks, and what they may do. */
export const session = queryOptions({
    queryKey: ["session"],
    queryFn: ({ signal }) => answered(client.GET("/auth/session", { signal })),
});

export const version = queryOptions({
    queryKey: ["version"],
    queryFn: ({ signal }) => answered(client.GET("/api/v1/version", { signal })),
    staleTime: Infinity,
});

export const overview = queryOptions({
    queryKey: ["overview"],
    queryFn: ({ signal }) => answered(client.GET("/api/v1/overview", { signal })),
    refetchInterval: LIVE_MS,
});

/** Everything is read for it, so it is asked for again only if the graph has changed since. */
export function estate(scale: EstateView["scale"]) {
    const queryKey = ["estate", scale];
    return queryOptions({
        queryKey,
        queryFn: async ({ signal, client: queries }): Promise<Schemas["EstateAnswer"]> => {
            const before = queries.getQueryData<Schemas["EstateAnswer"]>(queryKey);
            if (before && !before.settling) {
                const query = { after: "now", limit: 1 };
                const now = await answered(client.GET("/api/v1/changes", { signal, params: { query } }));
                if (now.position === before.position && !now.settling) return before;
            }
            return answered(client.GET("/api/v1/estate", { signal, params: { query: { scale } } }));
        },
        refetchInterval: 4 * LIVE_MS,
        staleTime: LIVE_MS,
    });
}

export const drift = queryOptions({
    queryKey: ["drift"],
    queryFn: ({ signal }) => answered(client.GET("/api/v1/graph/drift", { signal, params: { query: { limit: 20 } } })),
    refetchInterval: 4 * LIVE_MS,
});

export const quarantine = queryOptions({
    queryKey: ["quarantine"],
    queryFn: ({ signal }) => answered(client.GET("/api/v1/quarantine", { signal, params: { query: { limit: 5 } } })),
    refetchInterval: LIVE_MS,
});

export const sources = queryOptions({
    queryKey: ["sources"],
    queryFn: ({ signal }) => answered(client.GET("/api/v1/sources", { signal })),
    refetchInterval: LIVE_MS,
});

export const readiness = queryOptions({
    queryKey: ["ready"],
    queryFn: async ({ signal }): Promise<Schemas["Readiness"]> => {
        const { data, error, response } = await client.GET("/api/v1/ready", { signal });
        // A server that is not ready says so with status 503, and the same members.
        if (data) return data;
        if (response.status === 503 && "parts" in error) return error;
        return answered(Promise.resolve({ error, response }));
    },
    refetchInterval: LIVE_MS,
});

export function search(text: string, limit: number) {
    return queryOptions({
        queryKey: ["search", text, limit],
        queryFn: ({ signal }) =>
            answered(client.GET("/api/v1/search", { signal, params: { query: { q: text, limit, details: true } } })),
        enabled: text.trim() !== "",
        placeholderData: (previous) => previous,
        staleTime: LIVE_MS,
    });
}

export interface Around {
    node: NodeRef;
    direction: Direction;
    depth: number;
    /** As of this time; empty for now. */
    at?: string;
}

export function neighbourhood({ node, direction, depth, at = "" }: Around) {
    const time = at === "" ? {} : { at };
    const queryKey = ["neighbourhood", node, direction, depth, at];
    const query = { ...node, direction, depth, columns: true, details: true, ...time };
    return queryOptions({
        queryKey,
        queryFn: async ({ signal, client: queries }): Promise<Neighbourhood> => {
            const ask = { signal, params: { query } };
            const before = queries.getQueryData<Neighbourhood>(queryKey);
            if (!before) {
                const first = client.GET("/api/v1/graph/neighbourhood", { ...ask, parseAs: "text" });
                const text = await answered(first);
                return keepFirst(lasting(JSON.parse(text) as Neighbourhood), text);
            }
            const again = client.GET("/api/v1/graph/neighbourhood", { ...ask, parseAs: "arrayBuffer" });
            return reread(before, JSON.stringify(queryKey), await answered(again));
        },
        ...(at === "" ? { refetchInterval: LIVE_MS } : { staleTime: Infinity }),
    });
}

/** When things changed around a node. */
export function timeline(node: NodeRef, depth: number, since: string, until: string) {
    return queryOptions({
        queryKey: ["timeline", node, depth, since, until],
        queryFn: ({ signal }) =>
            answered(
                client.GET("/api/v1/graph/timeline", {
                    signal,
                    params: { query: { ...node, direction: "both", depth, since, until, limit: 5000 } },
                }),
            ),
        placeholderData: (previous) => previous,
    });
}

/** What the pulse is asked about: datasets, by their ids separated by commas, or the neighbourhood of a node. */
export interface PulseQuestion extends Partial<NodeRef> {
    datasets?: string;
    direction?: "both";
    depth?: number;
}

/** How much flows: now and again, or once as of a time. The answer is not read yet: it is long, and a worker reads it. */
export function pulse(question: PulseQuestion | undefined, until: string) {
    const time = until === "" ? {} : { until };
    return queryOptions({
        queryKey: ["pulse", question, until],
        queryFn: ({ signal }) =>
            answered(
                client.GET("/api/v1/graph/pulse", {
                    signal,
                    params: { query: { ...question, ...time } },
                    parseAs: "arrayBuffer",
                }),
            ),
        structuralSharing: false,
        ...(until === "" ? { refetchInterval: PULSE_MS } : { staleTime: Infinity }),
    });
}

/** How the schema of a dataset changed from one version to another. */
export function schemaDiff({ namespace, name }: NodeRef, before: string, after: string) {
    return queryOptions({
        queryKey: ["schema diff", namespace, name, before, after],
        queryFn: ({ signal }) =>
            answered(
                client.GET("/api/v1/graph/schemas/diff", {
                    signal,
                    params: { query: { namespace, name, before, after } },
                }),
            ),
    });
}

/** The versions of a facet, the most recently stated first. */
export function facetHistory({ kind, namespace, name }: NodeRef, key: string) {
    return queryOptions({
        queryKey: ["facet history", kind, namespace, name, key],
        queryFn: ({ signal }) =>
            answered(
                client.GET("/api/v1/graph/facets/history", {
                    signal,
                    params: { query: { kind, namespace, name, key, limit: 50 } },
                }),
            ),
    });
}

export function schemas(dataset: NodeRef, limit = 20) {
    const { namespace, name } = dataset;
    return queryOptions({
        queryKey: ["schemas", namespace, name, limit],
        queryFn: ({ signal }) =>
            answered(client.GET("/api/v1/graph/schemas", { signal, params: { query: { namespace, name, limit } } })),
        enabled: dataset.kind === "dataset",
    });
}

export function runs(job: NodeRef, limit = 20) {
    const { namespace, name } = job;
    return queryOptions({
        queryKey: ["runs", namespace, name, limit],
        queryFn: ({ signal }) =>
            answered(client.GET("/api/v1/graph/runs", { signal, params: { query: { namespace, name, limit } } })),
        enabled: job.kind === "job",
        refetchInterval: LIVE_MS,
    });
}

export function described(node: NodeRef) {
    const query = { namespace: node.namespace, name: node.name };
    return queryOptions({
        queryKey: ["described", node],
        queryFn: async ({ signal }) =>
            node.kind === "dataset"
                ? answered(client.GET("/api/v1/lineage/datasets/detail", { signal, params: { query } }))
                : (await answered(client.GET("/api/v1/lineage/jobs/detail", { signal, params: { query } }))).job,
    });
}

/** How much was written to a dataset and read from it, or by a job, within [since, until), in buckets of so many seconds. */
export function statistics({ kind, namespace, name }: NodeRef, since: string, until: string, bucket: number) {
    const which = kind === "job" ? { job_namespace: namespace, job_name: name } : { namespace, name };
    const query = { ...which, since, until, bucket, limit: 200 };
    return queryOptions({
        queryKey: ["statistics", query],
        queryFn: ({ signal }) => answered(client.GET("/api/v1/graph/statistics", { signal, params: { query } })),
        placeholderData: keepPreviousData,
    });
}

export function aliases(node: NodeRef) {
    const { kind: entity, namespace, name } = node;
    return queryOptions({
        queryKey: ["aliases", node],
        queryFn: ({ signal }) =>
            answered(
                client.GET("/api/v1/aliases", { signal, params: { query: { entity, namespace, name, limit: 50 } } }),
            ),
    });
}

export interface LedgerQuestion {
    target: NodeRef;
    since: string;
    until: string;
    baselineSince: string;
    baselineUntil: string;
}

export function ledger({ target, since, until, baselineSince, baselineUntil }: LedgerQuestion) {
    return queryOptions({
        queryKey: ["ledger", target, since, until, baselineSince, baselineUntil],
        queryFn: ({ signal }) =>
            answered(
                client.GET("/api/v1/graph/ledger", {
                    signal,
                    params: {
                        query: {
                            target_kind: target.kind,
                            target_namespace: target.namespace,
                            target_name: target.name,
                            since,
                            until,
                            baseline_since: baselineSince,
                            baseline_until: baselineUntil,
                        },
                    },
                }),
            ),
    });
}

export function trace({ dataset, field, direction, indirect, masked, held, access, suggestions, at }: TraceView) {
    const time = at === "" ? {} : { at };
    const query = {
        ...dataset,
        field,
        direction,
        indirect,
        through_masking: masked,
        held,
        access,
        suggestions,
        ...time,
    };
    return queryOptions({
        queryKey: ["trace", query],
        queryFn: ({ signal }) => answered(client.GET("/api/v1/graph/trace", { signal, params: { query } })),
    });
}

/** Who may read and write a dataset, and which jobs do. */
export function access({ namespace, name }: NodeRef, at: string) {
    const query = { namespace, name, ...(at === "" ? {} : { at }) };
    return queryOptions({
        queryKey: ["access", query],
        queryFn: ({ signal }) => answered(client.GET("/api/v1/graph/access", { signal, params: { query } })),
    });
}
