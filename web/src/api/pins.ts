import { queryOptions } from "@tanstack/react-query";

import { answered, client, paged } from "./client";
import { PAGE } from "./lists";

/** The pins that one may list, the newest first, page by page. */
export function pins(offset: number) {
    return queryOptions({
        queryKey: ["pins", offset],
        queryFn: ({ signal }) =>
            paged(
                client.GET("/api/v1/pins", { signal, params: { query: { limit: PAGE, offset } } }),
                (answer) => answer.pins,
            ),
    });
}

/** The address under an id. */
export function pin(id: string) {
    return queryOptions({
        queryKey: ["pin", id],
        queryFn: ({ signal }) =>
            answered(client.GET("/api/v1/pins/{pin_id}", { signal, params: { path: { pin_id: id } } })),
    });
}
