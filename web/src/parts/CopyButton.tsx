import { useState, type ReactNode } from "react";

import { Icon } from "./Icon";

interface Props {
    label: string;
    text: () => string;
    disabled?: boolean;
    children: ReactNode;
}

/** Puts a text on the clipboard, and says so. */
export function CopyButton({ label, text, disabled = false, children }: Props) {
    const [state, setState] = useState<"" | "copied" | "not allowed">("");
    const copy = async () => {
        try {
            await navigator.clipboard.writeText(text()); // there is no clipboard over plain HTTP
            setState("copied");
        } catch {
            setState("not allowed");
        }
    };
    return (
        <button
            type="button"
            disabled={disabled}
            onClick={() => void copy()}
            onBlur={() => setState("")}
            aria-label={state === "" ? label : `${label}: ${state}`}
            title={label}
        >
            <Icon name={state === "copied" ? "check" : "copy"} />
            {state === "" ? children : state}
        </button>
    );
}
