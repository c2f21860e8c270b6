import { useEffect, useRef, type ReactNode } from "react";

/** A dialog above the page. Escape, and a click beside it, close it; the focus returns to where it was. */
export function Modal({ label, close, children }: { label: string; close: () => void; children: ReactNode }) {
    const dialog = useRef<HTMLDialogElement>(null);
    useEffect(() => {
        const shown = dialog.current;
        if (shown && !shown.open) shown.showModal();
        return () => shown?.close();
    }, []);
    return (
        <dialog
            ref={dialog}
            aria-label={label}
            onCancel={close}
            onClick={(event) => {
                if (event.target === event.currentTarget) close();
            }}
        >
            <div className="modal">{children}</div>
        </dialog>
    );
}
