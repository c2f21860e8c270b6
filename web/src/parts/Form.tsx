import { useEffect, useId, useRef, useState, type ReactNode, type SyntheticEvent } from "react";

import { Modal } from "../shell/Modal";
import { Failure } from "./Messages";

/** What a field is given: its id, its name, and what describes it. */
export interface FieldAttributes {
    id: string;
    name: string;
    "aria-describedby": string;
    "aria-invalid": boolean;
    "aria-required": boolean;
}

interface FieldProps {
    name: string;
    label: string;
    hint?: ReactNode;
    isRequired?: boolean;
    /** By the names of fields, what is wrong with each. */
    errors: Readonly<Record<string, string>>;
    children: (attributes: FieldAttributes) => ReactNode;
}

/** A field with its name, what it is for, and what is wrong with it. */
export function FormField({ name, label, hint, isRequired = false, errors, children }: FieldProps) {
    const id = useId();
    const error = errors[name];
    return (
        <div className="field">
            <label htmlFor={id}>
                {label}
                {isRequired && <span className="hint"> (required)</span>}
            </label>
            {children({
                id,
                name,
                "aria-describedby": `${id}-about`,
                "aria-invalid": error !== undefined,
                "aria-required": isRequired,
            })}
            <div id={`${id}-about`}>
                {error !== undefined && <p className="failure">{error}</p>}
                {hint !== undefined && <p className="hint">{hint}</p>}
            </div>
        </div>
    );
}

/** A plain text field. */
export function TextField(props: Omit<FieldProps, "children"> & { given?: string; placeholder?: string }) {
    const { given, placeholder, ...field } = props;
    return (
        <FormField {...field}>
            {(attributes) => (
                <input
                    {...attributes}
                    type="text"
                    autoComplete="off"
                    spellCheck={false}
                    defaultValue={given}
                    placeholder={placeholder}
                />
            )}
        </FormField>
    );
}

/** A field with an entry on each line. */
export function LinesField(props: Omit<FieldProps, "children"> & { given?: string }) {
    const { given, ...field } = props;
    return (
        <FormField {...field}>
            {(attributes) => <textarea {...attributes} rows={2} spellCheck={false} defaultValue={given} />}
        </FormField>
    );
}

interface FormProps {
    label: string;
    isPending: boolean;
    errors: Readonly<Record<string, string>>;
    /** What went wrong with the whole. */
    problem: Error | null;
    submit: (given: FormData) => void;
    close: () => void;
    children: ReactNode;
}

/** A form of a dialog. What is wrong is shown at its field, which gets the focus; at first, its first field has it. */
export function Form({ label, isPending, errors, problem, submit, close, children }: FormProps) {
    const form = useRef<HTMLFormElement>(null);
    useEffect(() => form.current?.querySelector<HTMLElement>("select, input")?.focus(), []);
    useEffect(() => form.current?.querySelector<HTMLElement>("[aria-invalid=true]")?.focus(), [errors]);
    useEffect(() => form.current?.querySelector("[role=alert]")?.scrollIntoView({ block: "nearest" }), [problem]);
    const onSubmit = (event: SyntheticEvent<HTMLFormElement>) => {
        event.preventDefault();
        submit(new FormData(event.currentTarget));
    };
    return (
        <form ref={form} className="form" noValidate onSubmit={onSubmit}>
            <h2>{label}</h2>
            {children}
            {problem && <Failure problem={problem} />}
            <p className="tools">
                <button type="submit" className="primary" disabled={isPending}>
                    {label}
                </button>
                <button type="button" onClick={close}>
                    Cancel
                </button>
            </p>
        </form>
    );
}

/** A button that opens a dialog. */
export function DialogButton({ label, children }: { label: string; children: (close: () => void) => ReactNode }) {
    const [isOpen, setOpen] = useState(false);
    const close = () => setOpen(false);
    return (
        <>
            <button type="button" aria-haspopup="dialog" onClick={() => setOpen(true)}>
                {label}
            </button>
            {isOpen && (
                <Modal label={label} close={close}>
                    {children(close)}
                </Modal>
            )}
        </>
    );
}
