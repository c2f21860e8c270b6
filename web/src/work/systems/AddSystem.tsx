import { useQuery } from "@tanstack/react-query";
import { useState } from "react";

import { show } from "../../address/history";
import { workOf } from "../../address/work";
import { answered, client, type Schemas } from "../../api/client";
import { kinds, SINGULAR, type SystemList } from "../../api/lists";
import { Allowed } from "../../parts/ActionButton";
import { DialogButton, Form, FormField, LinesField, TextField } from "../../parts/Form";
import { textOf } from "../../parts/fields";
import { Answer } from "../../parts/Messages";
import { useWrite } from "../../parts/useWrite";
import { read, refused, shapeOf, usualOf, type Setting } from "./settings";

type Errors = Readonly<Record<string, string>>;

/** Adds a source, an input or a target, for those who may; then it is shown. */
export function AddSystem({ list }: { list: SystemList }) {
    const [article, noun] = SINGULAR[list];
    const label = `Add ${article} ${noun}`;
    return (
        <Allowed scope="operate" what={`Adding ${article} ${noun}`}>
            <DialogButton label={label}>{(close) => <Adding list={list} label={label} close={close} />}</DialogButton>
        </Allowed>
    );
}

function Adding({ list, label, close }: { list: SystemList; label: string; close: () => void }) {
    return (
        <Answer query={useQuery(kinds(list))}>
            {(answer) => <SystemForm list={list} label={label} kinds={answer.kinds} close={close} />}
        </Answer>
    );
}

interface Props {
    list: SystemList;
    label: string;
    kinds: readonly Schemas["KindItem"][];
    close: () => void;
}

function SystemForm({ list, label, kinds, close }: Props) {
    const [chosen, setChosen] = useState(kinds[0]?.kind ?? "");
    const [errors, setErrors] = useState<Errors>({});
    const [isAllShown, setAllShown] = useState(true);
    const kind = kinds.find((known) => known.kind === chosen);
    const settings = kind?.settings ?? [];
    const adding = useWrite((headers, body: Schemas["SourceRequest"]) =>
        answered(client.POST(`/api/v1/${list}`, { body, headers })),
    );
    const submit = (given: FormData) => {
        const name = textOf(given, "name");
        const { values, errors: wrong } = read(settings, (key) => textOf(given, `setting.${key}`));
        const found = { ...(name === "" && { name: "It is missing." }), ...prefixed(wrong) };
        setErrors(found);
        setAllShown(true);
        if (Object.keys(found).length > 0) return;
        adding.mutate(
            { name, kind: chosen, settings: values as Record<string, never>, replace: false },
            {
                onSuccess: () => {
                    close();
                    show(workOf(list, {}, name));
                },
                onError: (problem) => {
                    const shown = refused(problem.fields, settings);
                    setErrors(shown);
                    setAllShown(Object.keys(shown).length === Object.keys(problem.fields).length);
                },
            },
        );
    };
    const required = settings.filter(({ required: isRequired }) => isRequired);
    const others = settings.filter(({ required: isRequired }) => !isRequired);
    const hasErrors = Object.keys(errors).length > 0;
    return (
        <Form
            {...{ label, errors, submit, close }}
            isPending={adding.isPending}
            problem={hasErrors && isAllShown ? null : adding.error}
        >
            <FormField name="kind" label="Kind" hint={kind?.description} errors={errors}>
                {(attributes) => (
                    <select
                        {...attributes}
                        value={chosen}
                        onChange={(event) => {
                            setChosen(event.target.value);
                            setErrors({});
                            adding.reset();
                        }}
                    >
                        {kinds.map((known) => (
                            <option key={known.kind}>{known.kind}</option>
                        ))}
                    </select>
                )}
            </FormField>
            <TextField name="name" label="Name" errors={errors} isRequired />
            <div key={chosen} className="form">
                {required.map((setting) => (
                    <SettingField key={setting.name} setting={setting} errors={errors} />
                ))}
                <Others settings={others} errors={errors} />
            </div>
        </Form>
    );
}

/** The settings that need not be given; they are in sight once one of them is wrong. */
function Others({ settings, errors }: { settings: readonly Setting[]; errors: Errors }) {
    const [isOpen, setOpen] = useState(false);
    const isWrong = settings.some(({ name }) => `setting.${name}` in errors);
    return (
        <details open={isOpen || isWrong} onToggle={(event) => setOpen(event.currentTarget.open)}>
            <summary>Other settings</summary>
            <div className="form">
                {settings.map((setting) => (
                    <SettingField key={setting.name} setting={setting} errors={errors} />
                ))}
            </div>
        </details>
    );
}

function SettingField({ setting, errors }: { setting: Setting; errors: Errors }) {
    const usual = usualOf(setting);
    const field = {
        name: `setting.${setting.name}`,
        label: setting.name,
        hint: [setting.description, setting.secret && "A reference to the secret, such as ${env:NAME}."]
            .filter(Boolean)
            .join(" "),
        isRequired: setting.required,
        errors,
    };
    const shape = shapeOf(setting);
    if (shape === "lines") return <LinesField {...field} hint={`${field.hint} One on each line.`} />;
    if (shape === "block") return <LinesField {...field} />;
    if (shape !== "flag") return <TextField {...field} placeholder={usual} />;
    return (
        <FormField {...field}>
            {(attributes) => (
                <select {...attributes}>
                    <option value="">as usual ({usual === "true" ? "yes" : "no"})</option>
                    <option>yes</option>
                    <option>no</option>
                </select>
            )}
        </FormField>
    );
}

/** The fields of settings have names of their own: a setting may be called `name`. */
function prefixed(errors: Errors): Errors {
    return Object.fromEntries(Object.entries(errors).map(([name, why]) => [`setting.${name}`, why]));
}
