import { useEffect, useRef, useState } from "react";

import { answered, client, type Schemas } from "../../api/client";
import type { Key } from "../../api/lists";
import { Allowed, type Scope } from "../../parts/ActionButton";
import { CopyButton } from "../../parts/CopyButton";
import { DialogButton, Form, LinesField, TextField } from "../../parts/Form";
import { linesOf, textOf } from "../../parts/fields";
import { Name } from "../../parts/Name";
import { useWrite } from "../../parts/useWrite";
import { read } from "./newKey";

const SCOPES: readonly (readonly [Scope, string])[] = [
    ["ingest", "send events"],
    ["read", "ask questions"],
    ["operate", "change sources, inputs, targets and what lineage rests on"],
    ["admin", "create and revoke keys, and read who changed what"],
];

/** Creates an API key, for those who may, and shows it once. */
export function AddKey() {
    return (
        <Allowed scope="admin" what="Creating a key">
            <DialogButton label="Create a key">{(close) => <KeyForm close={close} />}</DialogButton>
        </Allowed>
    );
}

const FIELDS = new Set(["name", "scopes", "namespaces", "teams", "note", "days"]);

/** Whether what is wrong is known, and stands at fields of the form. */
function isAllShown(errors: Readonly<Record<string, string>>): boolean {
    const names = Object.keys(errors);
    return names.length > 0 && names.every((name) => FIELDS.has(name));
}

function KeyForm({ close }: { close: () => void }) {
    const [errors, setErrors] = useState<Readonly<Record<string, string>>>({});
    const creating = useWrite((headers, body: Schemas["KeyRequest"]) =>
        answered(client.POST("/api/v1/keys", { body, headers })),
    );
    if (creating.data) return <Created created={creating.data} close={close} />;
    const submit = (given: FormData) => {
        const { key, errors: wrong } = read({
            name: textOf(given, "name"),
            scopes: given.getAll("scopes").filter((scope) => typeof scope === "string"),
            namespaces: linesOf(textOf(given, "namespaces")),
            teams: linesOf(textOf(given, "teams")),
            note: textOf(given, "note"),
            days: textOf(given, "days"),
        });
        setErrors(wrong);
        if (key) creating.mutate(key, { onError: (problem) => setErrors(problem.fields) });
    };
    return (
        <Form
            label="Create a key"
            isPending={creating.isPending}
            problem={isAllShown(errors) ? null : creating.error}
            {...{ errors, submit, close }}
        >
            <TextField
                name="name"
                label="Name"
                hint="Of the program or person that uses it."
                isRequired
                {...{ errors }}
            />
            <fieldset aria-describedby="scopes-error">
                <legend>
                    It may <span className="hint">(one at least)</span>
                </legend>
                {SCOPES.map(([scope, what]) => (
                    <label key={scope}>
                        <input type="checkbox" name="scopes" value={scope} aria-invalid={errors.scopes !== undefined} />
                        <code>{scope}</code> <span className="hint">{what}</span>
                    </label>
                ))}
                <p id="scopes-error" className="failure">
                    {errors.scopes}
                </p>
            </fieldset>
            <TextField
                name="days"
                label="Expires in days"
                hint="Empty for a key that does not expire."
                given="90"
                {...{ errors }}
            />
            <LinesField
                name="namespaces"
                label="Limited to namespaces"
                hint="With the scopes ingest and read. Patterns, one on each line; empty for no limit."
                {...{ errors }}
            />
            <LinesField
                name="teams"
                label="Limited to the namespaces of teams"
                hint="One on each line."
                {...{ errors }}
            />
            <TextField name="note" label="Note" {...{ errors }} />
        </Form>
    );
}

/** The key, which nobody can see again. */
function Created({ created, close }: { created: Key; close: () => void }) {
    const { name, key = "" } = created;
    const shown = useRef<HTMLPreElement>(null);
    // Not the button: Enter that is still pressed would close it.
    useEffect(() => shown.current?.focus(), []);
    return (
        <div className="form">
            <h2>
                The key “<Name text={name} />”
            </h2>
            <p role="status">It is shown only now. Keep it where secrets are kept.</p>
            <pre ref={shown} tabIndex={0} aria-label="API key" data-kept>
                {key}
            </pre>
            <p className="tools">
                <CopyButton label="Copy the key" text={() => key}>
                    Copy
                </CopyButton>
                <button type="button" className="primary" onClick={close}>
                    Done
                </button>
            </p>
        </div>
    );
}
