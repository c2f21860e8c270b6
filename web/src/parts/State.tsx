import { Icon, type IconName } from "./Icon";

export type Tone = "good" | "busy" | "warn" | "bad" | "quiet";

/** How each state that the server names looks. A state is always its word with an icon, never a colour alone. */
const LOOKS: Record<string, [Tone, IconName]> = {
    alive: ["good", "check"],
    complete: ["good", "check"],
    running: ["busy", "clock"],
    start: ["busy", "clock"],
    idle: ["quiet", "pause"],
    silent: ["warn", "warning"],
    lagging: ["warn", "clock"],
    abort: ["warn", "cross"],
    gone: ["bad", "cross"],
    fail: ["bad", "cross"],
    declared: ["quiet", "dot"],
    unknown: ["quiet", "question"],
    steady: ["good", "check"],
    less: ["warn", "warning"],
    more: ["warn", "warning"],
    new: ["busy", "dot"],
    ok: ["good", "check"],
    partial: ["warn", "warning"],
    failing: ["bad", "cross"],
    paused: ["quiet", "pause"],
    active: ["good", "check"],
    completed: ["good", "check"],
    done: ["good", "check"],
    works: ["good", "check"],
    reading: ["good", "check"],
    observed: ["good", "check"],
    published: ["good", "check"],
    "in effect": ["good", "check"],
    pending: ["busy", "clock"],
    starting: ["busy", "clock"],
    waiting: ["busy", "clock"],
    asked: ["busy", "clock"],
    partly: ["warn", "warning"],
    stale: ["warn", "clock"],
    expired: ["warn", "clock"],
    interrupted: ["warn", "cross"],
    cancelled: ["quiet", "cross"],
    revoked: ["quiet", "cross"],
    unread: ["warn", "warning"],
    failed: ["bad", "cross"],
    refused: ["bad", "cross"],
    "does not work": ["bad", "cross"],
};

export function toneOf(state: string): Tone {
    return LOOKS[state.toLowerCase()]?.[0] ?? "quiet";
}

export function State({ state, count }: { state: string; count?: string }) {
    const [tone, icon] = LOOKS[state.toLowerCase()] ?? ["quiet", "question"];
    return (
        <span className={`state ${tone}`}>
            <Icon name={icon} />
            {count !== undefined && <b>{count}</b>}
            {state.toLowerCase()}
        </span>
    );
}
