import { queryOptions } from "@tanstack/react-query";

import { rootsOf, type ImpactView } from "../address/impact";
import type { Direction, NodeRef, PathsView } from "../address/view";
import { answered, client } from "./client";

/** What a change affects, with the flows to it. */
export function impact(view: ImpactView) {
    const [roots, { direction }] = [rootsOf(view), view];
    const query = {
        ...(roots.length === 0
            ? { namespace: [view.within] }
            : {
                  kind: roots.map(({ kind }) => kind),
                  namespace: roots.map(({ namespace }) => namespace),
                  name: roots.map(({ name }) => name),
              }),
        ...{ direction, flows: true, details: true, limit: 5000 },
    };
    return queryOptions({
        queryKey: ["impact", query],
        queryFn: ({ signal }) => answered(client.GET("/api/v1/graph/impact", { signal, params: { query } })),
    });
}

/** How many datasets and jobs lie up- or downstream of a node. */
export function reachOf({ kind, namespace, name }: NodeRef, direction: Direction) {
    const query = { kind: [kind], namespace: [namespace], name: [name], direction, limit: 1 };
    return queryOptions({
        queryKey: ["reach", query],
        queryFn: async ({ signal }) =>
            (await answered(client.GET("/api/v1/graph/impact", { signal, params: { query } }))).counts,
    });
}

export function pathsBetween({ source, target }: PathsView) {
    return queryOptions({
        queryKey: ["paths", source, target],
        queryFn: ({ signal }) =>
            answered(
                client.GET("/api/v1/graph/paths", {
                    signal,
                    params: {
                        query: {
                            source_kind: source.kind,
                            source_namespace: source.namespace,
                            source_name: source.name,
                            target_kind: target.kind,
                            target_namespace: target.namespace,
                            target_name: target.name,
                        },
                    },
                }),
            ),
    });
}
