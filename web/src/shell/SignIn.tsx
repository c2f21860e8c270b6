import { useQueryClient } from "@tanstack/react-query";
import { useState, type SyntheticEvent } from "react";

import { apiKey, keepApiKey, type Problem } from "../api/client";

const hasLogins = document.querySelector<HTMLMetaElement>("meta[name=lineage-bridge-login]")?.content === "yes";

/** The way in, where the server asks who is there: at its issuer, or with an API key, which only this browser tab keeps. */
export function SignIn({ problem }: { problem: Problem }) {
    const [key, setKey] = useState("");
    const queries = useQueryClient();
    const enter = (event: SyntheticEvent) => {
        event.preventDefault();
        keepApiKey(key.trim());
        void queries.resetQueries();
    };
    const { pathname, search } = window.location;
    return (
        <section className="sign-in" aria-labelledby="sign-in">
            <h1 id="sign-in">Sign in</h1>
            {problem.code !== "no_key" && (
                <p className="notice bad" role="alert">
                    The key was refused: {problem.message}.
                </p>
            )}
            {hasLogins && (
                <p>
                    <a className="button primary" href={`auth/login?next=${encodeURIComponent(pathname + search)}`}>
                        Sign in with your organization
                    </a>
                </p>
            )}
            <form onSubmit={enter}>
                <label htmlFor="key">{hasLogins ? "Or with an API key" : "API key"}</label>
                <input
                    id="key"
                    type="password"
                    autoComplete="off"
                    spellCheck={false}
                    value={key}
                    onChange={(event) => setKey(event.target.value)}
                    placeholder="lb_…"
                    required
                />
                <button type="submit" className={hasLogins ? "" : "primary"}>
                    Enter
                </button>
                {apiKey() !== "" && (
                    <button type="button" onClick={() => (keepApiKey(""), void queries.resetQueries())}>
                        Forget the key
                    </button>
                )}
            </form>
            <p className="hint">
                The page needs a key with the scope <code>read</code>. Whoever runs the server creates one:
            </p>
            <pre>lineage-bridge key create my-name --scope read</pre>
            <p className="hint">Only this browser tab keeps the key.</p>
        </section>
    );
}
