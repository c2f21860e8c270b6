import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";

import { Problem } from "./api/client";
import { Shell } from "./shell/Shell";
import { applyTheme, storedTheme } from "./shell/theme";
import "./styles/tokens.css";
import "./styles/base.css";
import "./styles/parts.css";
import "./styles/home.css";
import "./styles/lineage.css";
import "./styles/about.css";
import "./styles/time.css";
import "./styles/tables.css";
import "./styles/work.css";

const RETRIED = new Set([0, 503]);
const queries = new QueryClient({
    defaultOptions: {
        queries: {
            staleTime: 5_000,
            retry: (count, failure) => count < 3 && failure instanceof Problem && RETRIED.has(failure.status),
        },
    },
});

applyTheme(storedTheme());
const place = document.getElementById("page");
if (place) {
    createRoot(place).render(
        <StrictMode>
            <QueryClientProvider client={queries}>
                <Shell />
            </QueryClientProvider>
        </StrictMode>,
    );
}
