import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";

/** Where `make page` finds the running server, whose calls the page makes. */
const server = process.env.LINEAGE_BRIDGE_URL ?? "http://127.0.0.1:8000";

export default defineConfig(({ command }) => ({
    // The server fills in the base when it sends the page, so that one build works below any path.
    base: command === "build" ? "./" : "/",
    plugins: [
        react(),
        {
            name: "development-shell",
            apply: "serve",
            transformIndexHtml: (html) =>
                html.replace("%LINEAGE_BRIDGE_BASE%", "/").replace("%LINEAGE_BRIDGE_LOGIN%", "no"),
        },
    ],
    build: {
        outDir: "../src/lineage_bridge/api/web/static",
        emptyOutDir: true,
        assetsInlineLimit: 0,
        modulePreload: { polyfill: false },
    },
    worker: { format: "es" },
    server: { proxy: { "/api": server, "/auth": server, "/docs": server, "/openapi.json": server } },
}));
