import { useEffect, useRef, type ReactNode } from "react";

const KEPT = "[data-kept]";

/**
 * A dialog above the page. Escape, and a click beside it, close it, unless it contains what is marked `data-kept`: that cannot be shown
 * again, and closes by its own button. The focus returns to where it was.
 */
export function Modal({ label, close, children }: { label: string; close: () => void; children: ReactNode }) {
    const dialog = useRef<HTMLDialogElement>(null);
    const isPressedBeside = useRef(false);
    const isKept = () => dialog.current?.querySelector(KEPT) !== null;
    useEffect(() => {
        const shown = dialog.current;
        if (shown && !shown.open) shown.showModal();
        return () => shown?.close();
    }, []);
    return (
        <dialog
            ref={dialog}
            aria-label={label}
            onKeyDown={(event) => {
                if (event.key === "Escape" && isKept()) event.preventDefault();
            }}
            onCancel={(event) => {
                if (isKept()) event.preventDefault();
                else close();
            }}
            onPointerDown={(event) => {
                isPressedBeside.current = event.target === event.currentTarget;
            }}
            onClick={(event) => {
                // A text that is selected beyond the edge ends in a click on the dialog, too.
                if (event.target === event.currentTarget && isPressedBeside.current && !isKept()) close();
            }}
        >
            <div className="modal">{children}</div>
        </dialog>
    );
}
