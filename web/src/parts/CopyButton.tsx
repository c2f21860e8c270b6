import { useState, type ReactNode } from "react";

import { Icon } from "./Icon";

/** Puts a text on the clipboard, and says so. */
export function CopyButton({ label, text, children }: { label: string; text: () => string; children: ReactNode }) {
    const [state, setState] = useState<"" | "copied" | "not allowed">("");
    const copy = () => {
        navigator.clipboard.writeText(text()).then(
            () => setState("copied"),
            () => setState("not allowed"),
        );
    };
    return (
        <button
            type="button"
            onClick={copy}
            onBlur={() => setState("")}
            aria-label={state === "" ? label : `${label}: ${state}`}
            title={label}
        >
            <Icon name={state === "copied" ? "check" : "copy"} />
            {state === "" ? children : state}
        </button>
    );
}
