import { useQuery } from "@tanstack/react-query";
import { useState } from "react";

import { ViewLink } from "../address/history";
import { addressOf, type View } from "../address/view";
import { answered, client } from "../api/client";
import { PAGE } from "../api/lists";
import { pins } from "../api/pins";
import { elided, moment, visible } from "../format/text";
import { ActionButton } from "../parts/ActionButton";
import { CopyButton } from "../parts/CopyButton";
import { Answer } from "../parts/Messages";
import { Name } from "../parts/Name";
import { Modal } from "../shell/Modal";

/** Keeps the address of what is shown under a short link, and lists the links that there are. */
export default function Pins({ view, close }: { view: View; close: () => void }) {
    const [name, setName] = useState("");
    const [offset, setOffset] = useState(0);
    const listed = useQuery(pins(offset));
    const hasNext = listed.data?.hasNext ?? false;
    const address = addressOf(view);
    return (
        <Modal label="Pins" close={close}>
            <h2>Pins</h2>
            <p className="hint">
                A pin is a short link to a view. It keeps the address alone: who opens it sees what the graph has by
                then, and what they may see. An address with a time shows that time.
            </p>
            {address.startsWith("view/") && (
                <div className="form">
                    <label>
                        What this view shows
                        <input
                            value={name}
                            maxLength={200}
                            onChange={(event) => setName(event.target.value)}
                            autoFocus
                        />
                    </label>
                    <ActionButton
                        label="Keep this view"
                        icon="link"
                        isPrimary
                        act={(headers) => answered(client.POST("/api/v1/pins", { body: { address, name }, headers }))}
                        done={({ id }) => (
                            <>
                                <code>{linkOf(id)}</code>
                                <CopyButton label="Copy the short link" text={() => linkOf(id)}>
                                    Copy
                                </CopyButton>
                            </>
                        )}
                    />
                </div>
            )}
            <Answer query={listed}>
                {({ items }) => (
                    <ul className="plain pins" aria-label="Kept">
                        {items.map(({ id, name, author, created_at: at, address }) => (
                            <li key={id}>
                                <ViewLink to={{ page: "pin", id }} onClick={close}>
                                    <Name text={name === "" ? (/^view\/([a-z-]+)/.exec(address)?.[1] ?? id) : name} />
                                </ViewLink>
                                <small>
                                    {" "}
                                    by {author === "" ? "nobody named" : <Name text={author} />}, {moment(at)}
                                </small>
                                <ActionButton
                                    label={`Remove ${name === "" ? id : elided(visible(name), 56)}`}
                                    act={(headers) =>
                                        answered(
                                            client.DELETE("/api/v1/pins/{pin_id}", {
                                                params: { path: { pin_id: id } },
                                                headers,
                                            }),
                                        )
                                    }
                                />
                            </li>
                        ))}
                    </ul>
                )}
            </Answer>
            {(offset > 0 || hasNext) && (
                <nav className="tools" aria-label="Pages">
                    <button type="button" disabled={offset === 0} onClick={() => setOffset(offset - PAGE)}>
                        Newer
                    </button>
                    <button type="button" disabled={!hasNext} onClick={() => setOffset(offset + PAGE)}>
                        Older
                    </button>
                </nav>
            )}
            <button type="button" onClick={close}>
                Close
            </button>
        </Modal>
    );
}

function linkOf(id: string): string {
    return new URL(addressOf({ page: "pin", id }), document.baseURI).href;
}
