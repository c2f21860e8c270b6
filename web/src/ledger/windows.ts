import type { Baseline, LedgerView } from "../address/view";

const HOUR_MS = 3_600_000;
const MINUTE_MS = 60_000;
const SHIFT_HOURS: Record<Exclude<Baseline, "before">, number> = { yesterday: 24, week: 7 * 24 };

export interface Windows {
    since: string;
    until: string;
    baselineSince: string;
    baselineUntil: string;
}

/** The window and the baseline of a ledger, RFC 3339; `now` in milliseconds, counted in whole minutes. */
export function windowsOf({ hours, until, baseline }: LedgerView, now: number): Windows {
    const pinned = Date.parse(until);
    const end = Number.isNaN(pinned) ? Math.floor(now / MINUTE_MS) * MINUTE_MS : pinned;
    const length = hours * HOUR_MS;
    const shift = baseline === "before" ? length : Math.max(SHIFT_HOURS[baseline], hours) * HOUR_MS;
    return {
        since: text(end - length),
        until: text(end),
        baselineSince: text(end - length - shift),
        baselineUntil: text(end - shift),
    };
}

function text(time: number): string {
    return new Date(time).toISOString().replace(".000Z", "Z");
}
