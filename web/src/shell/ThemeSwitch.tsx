import { useState } from "react";

import { Icon } from "../parts/Icon";
import { applyTheme, storedTheme, THEMES, type Theme } from "./theme";

export function ThemeSwitch() {
    const [theme, setTheme] = useState(storedTheme);
    const choose = (chosen: Theme) => {
        applyTheme(chosen);
        setTheme(chosen);
    };
    return (
        <label className="theme">
            <Icon name="sun" />
            <span className="visually-hidden">Theme</span>
            <select value={theme} onChange={(event) => choose(event.target.value as Theme)}>
                {THEMES.map((name) => (
                    <option key={name}>{name}</option>
                ))}
            </select>
        </label>
    );
}
