import { useCallback, useEffect, useState } from "react";

import { Icon } from "../parts/Icon";
import { saveFile } from "../parts/save";
import { Modal } from "../shell/Modal";
import { isTyping } from "../shell/keys";
import { noteOf, type Note, type NoteContent } from "./note";

/** Puts what a view shows on the clipboard, as Markdown and with a picture; where that is not allowed, shows it to be copied by hand. */
export function CopyNote({ content }: { content: () => NoteContent }) {
    const [isCopied, setCopied] = useState(false);
    const [shown, showNote] = useState<Note>();
    const copy = useCallback(async () => {
        const note = noteOf(content(), window.location.href);
        try {
            await navigator.clipboard.write([itemOf(note)]); // there is no clipboard over plain HTTP
            setCopied(true);
        } catch {
            showNote(note);
        }
    }, [content]);
    useEffect(() => {
        const onKey = (event: KeyboardEvent) => {
            if (isTyping(event) || event.key.toLowerCase() !== "n") return;
            event.preventDefault();
            void copy();
        };
        window.addEventListener("keydown", onKey);
        return () => window.removeEventListener("keydown", onKey);
    }, [copy]);
    return (
        <>
            <button
                type="button"
                onClick={() => void copy()}
                onBlur={() => setCopied(false)}
                title="Copy as a note: link, names, time and a small picture (N)"
            >
                <Icon name={isCopied ? "check" : "copy"} />
                {isCopied ? "copied" : "Note"}
            </button>
            <span className="visually-hidden" role="status">
                {isCopied ? "The note is on the clipboard" : ""}
            </span>
            {shown && <NoteDialog note={shown} close={() => showNote(undefined)} />}
        </>
    );
}

function itemOf({ markdown, html }: Note): ClipboardItem {
    return new ClipboardItem({
        "text/plain": new Blob([markdown], { type: "text/plain" }),
        "text/html": new Blob([html], { type: "text/html" }),
    });
}

function NoteDialog({ note, close }: { note: Note; close: () => void }) {
    return (
        <Modal label="Note" close={close}>
            <h2>Copy this note</h2>
            <p className="hint">The browser does not let this page write to the clipboard.</p>
            <textarea
                aria-label="Note in Markdown"
                className="note"
                readOnly
                rows={10}
                value={note.markdown}
                autoFocus
                onFocus={(event) => event.target.select()}
            />
            <p>
                <button
                    type="button"
                    onClick={() => saveFile("note.svg", new Blob([note.svg], { type: "image/svg+xml" }))}
                >
                    <Icon name="download" />
                    Its picture as SVG
                </button>{" "}
                <button type="button" onClick={close}>
                    Close
                </button>
            </p>
        </Modal>
    );
}
