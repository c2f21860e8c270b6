import react from "@vitejs/plugin-react";
import { defineConfig, type Plugin } from "vite";

/** Where `make page` finds the running server, whose calls the page makes. */
const server = process.env.LINEAGE_BRIDGE_URL ?? "http://127.0.0.1:8000";

/** What the first views run: the entry, the lineage with its graph, and what both need. */
const RUN_AT_ONCE = /src\/main\.tsx$|src\/lineage\/(Lineage|canvas\/Canvas)\.tsx$|@xyflow\/react|node_modules\/react\//;

/**
 * Asks the browser to compile all functions of these chunks while it loads them, on another thread, not each one on the main thread when it
 * is first called (https://github.com/WICG/explicit-javascript-compile-hints-file-based). The comment has to come first; browsers that do
 * not know it ignore it.
 */
const compileHints: Plugin = {
    name: "compile-hints",
    apply: "build",
    generateBundle: {
        order: "post",
        handler(_, bundle) {
            for (const file of Object.values(bundle)) {
                if (file.type === "chunk" && file.moduleIds.some((id) => RUN_AT_ONCE.test(id)))
                    file.code = `//# allFunctionsCalledOnLoad\n${file.code}`;
            }
        },
    },
};

export default defineConfig(({ command }) => ({
    // The server fills in the base when it sends the page, so that one build works below any path.
    base: command === "build" ? "./" : "/",
    plugins: [
        react(),
        compileHints,
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
