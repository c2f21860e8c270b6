import { queryOptions } from "@tanstack/react-query";

import { answered, client } from "./client";

/** The pins that one may list, the newest first. */
export const pins = queryOptions({
    queryKey: ["pins"],
    queryFn: ({ signal }) => answered(client.GET("/api/v1/pins", { signal, params: { query: { limit: 100 } } })),
});

/** The address under an id. */
export function pin(id: string) {
    return queryOptions({
        queryKey: ["pin", id],
        queryFn: ({ signal }) =>
            answered(client.GET("/api/v1/pins/{pin_id}", { signal, params: { path: { pin_id: id } } })),
    });
}
