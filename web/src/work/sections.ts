import type { WorkList } from "../address/work";

export interface Section {
    name: string;
    lists: readonly (readonly [WorkList, string])[];
}

/** The lists by what they are about; the head leads to the first of each. */
export const SECTIONS: readonly [Section, ...Section[]] = [
    {
        name: "Inventory",
        lists: [
            ["datasets", "Datasets"],
            ["jobs", "Jobs"],
            ["aliases", "Aliases"],
            ["drift", "Drift"],
        ],
    },
    {
        name: "Activity",
        lists: [
            ["runs", "Runs"],
            ["events", "Events"],
            ["quarantine", "Quarantine"],
            ["tasks", "Tasks"],
        ],
    },
    {
        name: "Connections",
        lists: [
            ["sources", "Sources"],
            ["inputs", "Inputs"],
            ["targets", "Targets"],
        ],
    },
    {
        name: "Access",
        lists: [
            ["keys", "API keys"],
            ["sessions", "Sessions"],
        ],
    },
];

export function sectionOf(list: WorkList): Section {
    return SECTIONS.find(({ lists }) => lists.some(([name]) => name === list)) ?? SECTIONS[0];
}

export function titleOfList(list: WorkList): string {
    return sectionOf(list).lists.find(([name]) => name === list)?.[1] ?? list;
}
