/** What an event is about, in a row. It was accepted, so what it has is of the right type; what it lacks is empty. */
export interface EventSummary {
    time: string;
    /** The type of a run event; `job` or `dataset` for a declaration. */
    type: string;
    job: { namespace: string; name: string } | undefined;
    run: string;
    inputs: number;
    outputs: number;
}

export function summaryOf(event: unknown): EventSummary {
    const { eventTime, eventType, job, run, dataset, inputs, outputs } = event as EventMembers;
    return {
        time: eventTime ?? "",
        type: run ? (eventType ?? "other") : dataset ? "dataset" : "job",
        job: job && { namespace: job.namespace ?? "", name: job.name ?? "" },
        run: run?.runId ?? "",
        inputs: inputs?.length ?? 0,
        outputs: outputs?.length ?? 0,
    };
}

interface EventMembers {
    eventTime?: string;
    eventType?: string;
    job?: { namespace?: string; name?: string };
    run?: { runId?: string };
    dataset?: unknown;
    inputs?: unknown[];
    outputs?: unknown[];
}
