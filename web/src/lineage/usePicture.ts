import { useQueries, useQuery, useQueryClient } from "@tanstack/react-query";
import { useMemo } from "react";

import type { Expansion, LineageView, NodeRef } from "../address/view";
import type { Schemas } from "../api/client";
import { neighbourhood, type Around } from "../api/questions";
import { pictureOf, type Picture } from "./picture";

export interface PictureState {
    picture: Picture | undefined;
    rootId: string;
    error: Error | null;
    updatedAt: number;
    isFetching: boolean;
    retry: () => void;
}

/** The picture of a view: around its root, and around each node where it was expanded. */
export function usePicture(view: LineageView): PictureState {
    const up = useQuery(neighbourhood({ node: view.root, direction: "upstream", depth: view.up }));
    const down = useQuery(neighbourhood({ node: view.root, direction: "downstream", depth: view.down }));
    const first = useMemo(() => [up.data, down.data].filter((data) => data !== undefined), [up.data, down.data]);
    const more = useExpansions(view.expansions, first);
    const answers = useMemo(() => [...first, ...more.answers], [first, more.answers]);
    const picture = useMemo(
        () => (up.data && down.data ? pictureOf(answers) : undefined),
        [answers, up.data, down.data],
    );
    const origin = up.data?.nodes.find(({ id }) => id === up.data.origin.id);
    return {
        picture,
        rootId: origin?.canonical ?? origin?.id ?? "",
        error: up.error ?? down.error ?? more.error,
        updatedAt: Math.min(up.dataUpdatedAt, down.dataUpdatedAt),
        isFetching: up.isFetching || down.isFetching,
        retry: () => void Promise.all([up.refetch(), down.refetch()]),
    };
}

/** An expansion names its node by id; its name is in an answer that came before, so those known so far are asked for at once. */
function useExpansions(expansions: Expansion[], first: Schemas["NeighbourhoodAnswer"][]) {
    const queries = useQueryClient();
    const names = new Map<string, NodeRef>();
    const learn = (answer: Schemas["NeighbourhoodAnswer"] | undefined) =>
        answer?.nodes.forEach(({ id, kind, namespace, name }) =>
            names.set(id, { kind: kind === "job" ? "job" : "dataset", namespace, name }),
        );
    first.forEach(learn);
    const questions = expansions.flatMap(({ id, direction }): Around[] => {
        const node = names.get(id);
        if (!node) return [];
        const question: Around = { node, direction, depth: 1 };
        learn(queries.getQueryData(neighbourhood(question).queryKey));
        return [question];
    });
    return useQueries({ queries: questions.map((question) => neighbourhood(question)), combine: joinAnswers });
}

function joinAnswers(results: { data: Schemas["NeighbourhoodAnswer"] | undefined; error: Error | null }[]) {
    return {
        answers: results.map(({ data }) => data).filter((data) => data !== undefined),
        error: results.map(({ error }) => error).find((error) => error !== null) ?? null,
    };
}
