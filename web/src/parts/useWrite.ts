import { useMutation, useQueryClient } from "@tanstack/react-query";

import { writeHeaders, type Problem } from "../api/client";
import { session } from "../api/questions";

/** A call that changes something on the server, with the headers of what a page writes. All answers are asked for again after it. */
export function useWrite<T, Given = void>(act: (headers: Record<string, string>, given: Given) => Promise<T>) {
    const queries = useQueryClient();
    return useMutation<T, Problem, Given>({
        mutationFn: (given: Given) => act(writeHeaders(queries.getQueryData(session.queryKey)), given),
        onSettled: () => {
            void queries.invalidateQueries(); // what the call answered is shown before
        },
        // What a call answered is kept no longer than it is shown: it may be a key.
        gcTime: 0,
    });
}
