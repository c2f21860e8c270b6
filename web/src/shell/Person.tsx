import { useMutation, useQueryClient } from "@tanstack/react-query";

import { answered, apiKey, client, keepApiKey, writeHeaders, type Schemas } from "../api/client";
import { visible } from "../format/text";

/** Who is signed in, what that allows, and the way out. Nothing where the server asks nobody. */
export function Person({ session }: { session: Schemas["SessionInfo"] }) {
    const queries = useQueryClient();
    const leave = useMutation({
        mutationFn: async () => {
            if (apiKey() !== "") {
                keepApiKey("");
                return "";
            }
            const headers = writeHeaders(session);
            return (await answered(client.POST("/auth/logout", { headers }))).issuer_logout_url;
        },
        onSuccess: (url) => {
            if (url !== "") window.location.assign(url);
            else void queries.resetQueries();
        },
    });
    if (session.principal === "") return null;
    const limits = session.namespaces.length > 0 ? `; sees ${session.namespaces.join(", ")}` : "";
    return (
        <span className="person">
            <span title={`May: ${session.scopes.join(", ")}${limits}`}>{visible(session.principal)}</span>
            <button type="button" className="bare" onClick={() => leave.mutate()} disabled={leave.isPending}>
                Sign out
            </button>
        </span>
    );
}
