import { useQuery } from "@tanstack/react-query";
import { lazy, memo, Suspense, useEffect, useRef, useState } from "react";

import { back, useView, ViewLink } from "../address/history";
import { subjectOf } from "../address/nodes";
import type { View } from "../address/view";
import { Problem } from "../api/client";
import { readiness, session } from "../api/questions";
import { Home } from "../home/Home";
import { Icon } from "../parts/Icon";
import { Loading } from "../parts/Messages";
import { SearchDialog } from "../search/SearchDialog";
import { SearchResults } from "../search/SearchResults";
import { titleOfList } from "../work/sections";
import { isTyping } from "./keys";
import { Person } from "./Person";
import { Sections } from "./Sections";
import { Shortcuts } from "./Shortcuts";
import { SignIn } from "./SignIn";
import { ThemeSwitch } from "./ThemeSwitch";

const Lineage = lazy(() => import("../lineage/Lineage"));
const Estate = lazy(() => import("../estate/Estate"));
const Ledger = lazy(() => import("../ledger/Ledger"));
const Trace = lazy(() => import("../trace/Trace"));
const Impact = lazy(() => import("../impact/Impact"));
const Paths = lazy(() => import("../paths/Paths"));
const OpenPin = lazy(() => import("../pins/OpenPin"));
const Pins = lazy(() => import("../pins/Pins"));
const Work = lazy(() => import("../work/Work"));

/** The page: its head, and the view of the address; before that the sign-in, where the server asks who is there. */
export function Shell() {
    const view = useView();
    const who = useQuery(session);
    const [searching, setSearching] = useState(false);
    const [helping, setHelping] = useState(false);
    const [pinning, setPinning] = useState(false);
    const main = useRef<HTMLElement>(null);

    useEffect(() => {
        const onKey = (event: KeyboardEvent) => {
            if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "k") {
                event.preventDefault();
                setSearching(true);
            } else if (!isTyping(event) && event.key === "/") {
                event.preventDefault();
                const field = document.querySelector<HTMLInputElement>("main .search input");
                if (field) field.focus();
                else setSearching(true);
            } else if (!isTyping(event) && event.key === "?") {
                setHelping(true);
            } else if (!isTyping(event) && event.key.toLowerCase() === "k") {
                event.preventDefault();
                setPinning(true);
            } else if (!isTyping(event) && event.key === "Backspace") {
                event.preventDefault();
                back();
            }
        };
        window.addEventListener("keydown", onKey);
        return () => window.removeEventListener("keydown", onKey);
    }, []);

    useEffect(() => {
        document.title = titleOf(view);
    }, [view]);

    const refused = who.error instanceof Problem && who.error.status === 401;
    return (
        <>
            <a className="skip" href="#main" onClick={(event) => (event.preventDefault(), main.current?.focus())}>
                Skip to the content
            </a>
            <header className="head">
                <ViewLink to={{ page: "home" }} className="brand" aria-label="LineageBridge: start page">
                    <Mark />
                    <span>LineageBridge</span>
                </ViewLink>
                {!refused && (
                    <button type="button" className="find" onClick={() => setSearching(true)}>
                        <Icon name="search" />
                        <span>Search</span>
                        <kbd>Ctrl K</kbd>
                    </button>
                )}
                {!refused && <Sections view={view} />}
                <span className="spring" />
                {!refused && <Catching />}
                {!refused && (
                    <button
                        type="button"
                        className="bare"
                        aria-label="Pins"
                        title="Short links to views (K)"
                        onClick={() => setPinning(true)}
                    >
                        <Icon name="link" />
                    </button>
                )}
                <button
                    type="button"
                    className="bare"
                    aria-label="Keys"
                    title="Keys (?)"
                    onClick={() => setHelping(true)}
                >
                    <Icon name="question" />
                </button>
                <ThemeSwitch />
                {who.data && <Person session={who.data} />}
            </header>
            <main id="main" ref={main} tabIndex={-1}>
                {refused ? <SignIn problem={who.error as Problem} /> : <Content view={view} />}
            </main>
            {searching && <SearchDialog from={subjectOf(view)} close={() => setSearching(false)} />}
            {helping && <Shortcuts close={() => setHelping(false)} />}
            {pinning && !refused && (
                <Suspense>
                    <Pins view={view} close={() => setPinning(false)} />
                </Suspense>
            )}
        </>
    );
}

const Content = memo(function Content({ view }: { view: View }) {
    return (
        <Suspense fallback={<Loading />}>
            {view.page === "home" && <Home />}
            {view.page === "search" && <SearchResults view={view} />}
            {view.page === "lineage" && <Lineage view={view} />}
            {view.page === "estate" && <Estate view={view} />}
            {view.page === "ledger" && <Ledger view={view} />}
            {view.page === "trace" && <Trace view={view} />}
            {view.page === "impact" && <Impact view={view} />}
            {view.page === "paths" && <Paths view={view} />}
            {view.page === "work" && <Work key={`${view.list} ${view.open}`} view={view} />}
            {view.page === "pin" && <OpenPin id={view.id} />}
            {view.page === "unknown" && (
                <div className="empty">
                    <h1>There is no such view</h1>
                    <p>
                        The address may be cut. <ViewLink to={{ page: "home" }}>The start page</ViewLink> leads to
                        everything.
                    </p>
                </div>
            )}
        </Suspense>
    );
});

function titleOf(view: View): string {
    switch (view.page) {
        case "lineage":
            return `${view.root.name} · LineageBridge`;
        case "ledger":
            return `Ledger of ${view.target.name} · LineageBridge`;
        case "trace":
            return `Trace of ${view.field || view.dataset.name} · LineageBridge`;
        case "impact":
            return `Impact of ${view.within || view.root.name} · LineageBridge`;
        case "paths":
            return `${view.source.name} to ${view.target.name} · LineageBridge`;
        case "estate":
            return "Estate · LineageBridge";
        case "search":
            return `${view.text} · LineageBridge`;
        case "work":
            return `${view.open || titleOfList(view.list)} · LineageBridge`;
        default:
            return "LineageBridge";
    }
}

/** Says when answers lag behind what was sent, or when the server does not answer. */
function Catching() {
    const { data, error } = useQuery(readiness);
    if (error) {
        return (
            <span className="state bad" role="status">
                <Icon name="cross" /> no connection
            </span>
        );
    }
    if (!data || (data.ready && data.lag.caught_up && !data.settling)) return null;
    return (
        <span className="state busy" role="status">
            <Icon name="clock" /> {data.ready ? "catching up" : "starting"}
        </span>
    );
}

function Mark() {
    return (
        <svg className="mark" viewBox="0 0 32 32" aria-hidden="true">
            <rect width="32" height="32" rx="8" />
            <path d="M7 21c0-12 18-12 18 0M16 12v10" />
            <circle cx="7" cy="22" r="2.5" />
            <circle cx="25" cy="22" r="2.5" />
        </svg>
    );
}
