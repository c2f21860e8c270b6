/** How far a reader is behind, in words. Pure. */

import type { Schemas } from "../../api/client";
import { counted, duration, whole } from "../../format/text";

type Lag = Schemas["LagAnswer"];

/** How long it takes to read what is unread. */
export function drainWords({ rows, drain_s: drain }: Lag): string {
    if (rows === 0) return "up to date";
    return drain === undefined ? "nothing is read" : `${duration(drain)} to read`;
}

/** At which partitions a reader stands still while it reads others. */
export function stuckWords({ partitions, worst, rows }: Schemas["StuckAnswer"]): string {
    const most = partitions === 1 ? `partition ${worst} is stuck` : `${counted(partitions, "partition")} are stuck`;
    return `${most}, ${partitions === 1 ? "" : `${worst} `}with ${whole(rows)} unread`;
}

/** From here on a reader counts as lagging: it takes longer than this to read what is unread, in seconds. */
const LAGGING_S = 600;

export function isLagging({ rows, drain_s: drain, stuck }: Lag): boolean {
    return stuck !== undefined || (rows > 0 && (drain === undefined || drain > LAGGING_S));
}

/** Whether one lag is worse than another: it takes longer to read, or has more unread. */
export function worse(one: Lag, other: Lag | undefined): boolean {
    const [mine, theirs] = [one, other].map((lag) => (lag ? (lag.drain_s ?? Infinity) : -1));
    return mine === theirs ? one.rows > (other?.rows ?? -1) : (mine ?? 0) > (theirs ?? 0);
}

/** A lag as it stands on a link, behind the rate; empty if all is read. */
export function shortWords({ rows, drain_s: drain, stuck }: Lag): string {
    const behind = rows === 0 ? "" : drain === undefined ? `${whole(rows)} unread` : `${duration(drain)} lag`;
    return [behind, stuck ? `${stuck.partitions} stuck` : ""].filter((words) => words !== "").join(", ");
}
