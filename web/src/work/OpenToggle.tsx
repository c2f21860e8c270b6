import { show } from "../address/history";
import type { WorkView } from "../address/work";
import { Icon, type IconName } from "../parts/Icon";

/** Shows an entry whole below its row, and hides it. */
export function OpenToggle({ view, id, label, icon = "list" }: Toggle) {
    const isOpen = view.open === id;
    return (
        <button
            type="button"
            aria-expanded={isOpen}
            aria-label={`${label}, ${isOpen ? "hide" : "show"}`}
            onClick={() => show({ ...view, open: isOpen ? "" : id }, { replace: true })}
        >
            <Icon name={isOpen ? "cross" : icon} />
            {isOpen ? "Hide" : "Show"}
        </button>
    );
}

interface Toggle {
    view: WorkView;
    id: string;
    label: string;
    icon?: IconName;
}
