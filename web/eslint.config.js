import hooks from "eslint-plugin-react-hooks";
import { defineConfig } from "eslint/config";
import typescript from "typescript-eslint";

export default defineConfig(
    { ignores: ["node_modules", "src/api/schema.d.ts"] },
    ...typescript.configs.strictTypeChecked,
    ...typescript.configs.stylisticTypeChecked,
    hooks.configs.flat["recommended-latest"],
    {
        languageOptions: { parserOptions: { projectService: { allowDefaultProject: ["eslint.config.js"] } } },
        rules: {
            "max-lines": ["error", 300],
            "no-restricted-properties": ["error", { property: "innerHTML" }, { property: "dangerouslySetInnerHTML" }],
            "@typescript-eslint/consistent-type-definitions": ["error", "interface"],
            "@typescript-eslint/restrict-template-expressions": ["error", { allowNumber: true }],
            "@typescript-eslint/no-confusing-void-expression": ["error", { ignoreArrowShorthand: true }],
        },
    },
);
