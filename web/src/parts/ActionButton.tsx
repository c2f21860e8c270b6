import { useQuery } from "@tanstack/react-query";
import { useState, type ReactNode } from "react";

import type { Schemas } from "../api/client";
import { session } from "../api/questions";
import { Modal } from "../shell/Modal";
import { Icon, type IconName } from "./Icon";
import { Failure } from "./Messages";
import { useWrite } from "./useWrite";

export type Scope = Schemas["SessionInfo"]["scopes"][number];

/** What needs a scope: shown to who has it; to others, which scope is missing. */
export function Allowed({ scope, what, children }: { scope: Scope; what: string; children: ReactNode }) {
    const { data } = useQuery(session);
    if (data === undefined) return null;
    if (data.scopes.includes(scope)) return <div className="tools">{children}</div>;
    return (
        <p className="hint">
            <Icon name="shield" /> {what} needs the scope <code>{scope}</code>.
        </p>
    );
}

interface Props<T> {
    label: string;
    icon?: IconName;
    isPrimary?: boolean;
    isDisabled?: boolean;
    /** What is asked before it is done; nothing is asked without it. */
    question?: string;
    /** Makes the call, with the headers of what a page writes. */
    act: (headers: Record<string, string>) => Promise<T>;
    /** What is shown of the answer. */
    done?: (answer: T) => ReactNode;
}

/** A button that changes something on the server, and says how that went. */
export function ActionButton<T>({ label, icon, isPrimary, isDisabled, question, act, done }: Props<T>) {
    const [isAsking, setAsking] = useState(false);
    const action = useWrite(act);
    const run = () => {
        setAsking(false);
        action.mutate();
    };
    return (
        <>
            <button
                type="button"
                className={isPrimary ? "primary" : undefined}
                disabled={action.isPending || isDisabled}
                onClick={question === undefined ? run : () => setAsking(true)}
            >
                {icon && <Icon name={icon} />}
                {label}
            </button>
            {isAsking && question !== undefined && (
                <Modal label={label} close={() => setAsking(false)}>
                    <h2>{label}?</h2>
                    <p>{question}</p>
                    <p className="tools">
                        <button type="button" className="primary" onClick={run}>
                            {label}
                        </button>
                        <button type="button" autoFocus onClick={() => setAsking(false)}>
                            Cancel
                        </button>
                    </p>
                </Modal>
            )}
            {action.error && (
                <div className="outcome">
                    <Failure problem={action.error} />
                </div>
            )}
            {action.data !== undefined && done && (
                <div className="outcome" role="status">
                    {done(action.data)}
                </div>
            )}
        </>
    );
}
