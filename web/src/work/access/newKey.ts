/** What is given for a new API key, as the server takes it. Pure. */

import type { Schemas } from "../../api/client";

type Request = Schemas["KeyRequest"];

/** What the fields of the form have. */
export interface Given {
    name: string;
    scopes: readonly string[];
    namespaces: string[];
    teams: string[];
    note: string;
    days: string;
}

/** The key to ask for, or, by the names of fields, what is wrong with them. */
export function read({ days, ...given }: Given): { key?: Request; errors: Record<string, string> } {
    const number = Number(days);
    const errors = {
        ...(given.name === "" && { name: "It is missing." }),
        ...(given.scopes.length === 0 && { scopes: "Choose one at least." }),
        ...(days !== "" && !(number > 0 && number <= 36_500) && { days: "A number of days is needed, such as 90." }),
    };
    if (Object.keys(errors).length > 0) return { errors };
    const scopes = given.scopes as Request["scopes"];
    const expires = days === "" ? {} : { expires_in_s: Math.round(number * 86_400) };
    return { key: { ...given, scopes, ...expires }, errors };
}
