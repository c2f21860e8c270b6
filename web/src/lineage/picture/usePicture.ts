import { useQueries, useQuery, useQueryClient } from "@tanstack/react-query";
import { useMemo } from "react";

import type { Expansion, LineageView, NodeRef } from "../../address/view";
import type { Schemas } from "../../api/client";
import { neighbourhood, type Around } from "../../api/questions";
import { pictureOf, type Picture } from "./picture";

export interface PictureState {
    picture: Picture | undefined;
    answers: Schemas["NeighbourhoodAnswer"][];
    rootId: string;
    error: Error | null;
    updatedAt: number;
    isFetching: boolean;
    retry: () => void;
}

/** The picture of a view as of a time (empty for now): around its root, and around each node where it was expanded. */
export function usePicture(view: LineageView, at: string): PictureState {
    const up = useQuery(neighbourhood({ node: view.root, direction: "upstream", depth: view.up, at }));
    const down = useQuery(neighbourhood({ node: view.root, direction: "downstream", depth: view.down, at }));
    const first = useMemo(() => [up.data, down.data].filter((data) => data !== undefined), [up.data, down.data]);
    const more = useExpansions(view.expansions, first, at);
    const answers = useMemo(() => [...first, ...more.answers], [first, more.answers]);
    const picture = useMemo(
        () => (up.data && down.data ? pictureOnce(answers) : undefined),
        [answers, up.data, down.data],
    );
    const origin = up.data?.nodes.find(({ id }) => id === up.data.origin.id);
    const rootId = origin?.canonical ?? origin?.id ?? "";
    const error = up.error ?? down.error ?? more.error;
    const updatedAt = Math.min(up.dataUpdatedAt, down.dataUpdatedAt);
    const isFetching = up.isFetching || down.isFetching;
    const [retryUp, retryDown] = [up.refetch, down.refetch];
    return useMemo(
        () => ({
            picture,
            answers,
            rootId,
            error,
            updatedAt,
            isFetching,
            retry: () => void Promise.all([retryUp(), retryDown()]),
        }),
        [picture, answers, rootId, error, updatedAt, isFetching, retryUp, retryDown],
    );
}

const made = new WeakMap<Schemas["NeighbourhoodAnswer"], { answers: readonly unknown[]; picture: Picture }>();

/** The picture of answers; the same one for who asks for it again, as the times of a view do that are all now. */
function pictureOnce(answers: Schemas["NeighbourhoodAnswer"][]): Picture {
    const [first] = answers;
    const known = first && made.get(first);
    const isSame =
        known?.answers.length === answers.length && answers.every((answer, at) => known.answers[at] === answer);
    if (known && isSame) return known.picture;
    const picture = pictureOf(answers);
    if (first) made.set(first, { answers, picture });
    return picture;
}

/** An expansion names its node by id; its name is in an answer that came before, so those known so far are asked for at once. */
function useExpansions(expansions: Expansion[], first: Schemas["NeighbourhoodAnswer"][], at: string) {
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
        const question: Around = { node, direction, depth: 1, at };
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
