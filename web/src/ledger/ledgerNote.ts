import type { NodeRef } from "../address/view";
import type { Schemas } from "../api/client";
import { counted, ratio } from "../format/text";
import type { NoteContent } from "../note/note";
import { pictureOfLedger } from "../note/pictures";

/** A hop ledger as a note: its window and baseline, and the ratio of each hop. Pure. */
export function ledgerNote(target: NodeRef, answer: Schemas["LedgerAnswer"]): NoteContent {
    const { hops, window, baseline } = answer;
    const diverged = hops.find(({ diverged }) => diverged);
    const words = ({ target, ratio: now, baseline_ratio: before, diverged }: Schemas["LedgerHopAnswer"]) =>
        [
            `into ${target.name}: ${now === undefined ? "not measured" : `${ratio(now)} rows for each row`}`,
            ...(before === undefined ? [] : [`before ${ratio(before)}`]),
            ...(diverged ? ["first divergence"] : []),
        ].join(", ");
    return {
        subject: "Hop ledger of",
        names: [target],
        window: `from ${window.since} to ${window.until}, compared with ${baseline.since} to ${baseline.until}`,
        sentences: [counted(hops.length, "hop"), ...(diverged ? [`first divergence: ${diverged.job.name}`] : [])],
        items: hops.map((hop) => ({ namespace: hop.job.namespace, name: hop.job.name, words: words(hop) })),
        picture: pictureOfLedger(answer, answer.target),
        rootIds: [answer.target.id],
    };
}
