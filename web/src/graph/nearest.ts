/** The way of each arrow key. */
export const WAYS: Readonly<Record<string, readonly [number, number]>> = {
    ArrowLeft: [-1, 0],
    ArrowRight: [1, 0],
    ArrowUp: [0, -1],
    ArrowDown: [0, 1],
};

/** The id of the drawn node that lies next in a direction: near counts, and off the line counts double. */
export function nearest([dx, dy]: readonly [number, number], from: string): string | undefined {
    const drawn = [...document.querySelectorAll<HTMLElement>(".react-flow__node")].map((element) => {
        const { left, top, width, height } = element.getBoundingClientRect();
        return { id: element.dataset.id ?? "", x: left + width / 2, y: top + height / 2 };
    });
    const start = drawn.find(({ id }) => id === from);
    if (!start) return drawn[0]?.id;
    const ranked = drawn.flatMap(({ id, x, y }) => {
        const along = (x - start.x) * dx + (y - start.y) * dy;
        const off = Math.abs((x - start.x) * dy) + Math.abs((y - start.y) * dx);
        return id !== from && along > 8 ? [{ id, cost: along + 2 * off }] : [];
    });
    return ranked.sort((a, b) => a.cost - b.cost)[0]?.id;
}

/** The id of the drawn node that has the focus itself, not something in it; undefined if none has. */
export function focusedNode(): string | undefined {
    const focused = document.activeElement;
    return focused instanceof HTMLElement && focused.matches(".react-flow__node") ? focused.dataset.id : undefined;
}

/** Gives the focus to a drawn node. */
export function focusNode(id: string): void {
    document.querySelector<HTMLElement>(`.react-flow__node[data-id="${CSS.escape(id)}"]`)?.focus();
}
