import type { Size } from "../../graph/useSize";
import type { Drawing, Shape } from "./drawing";

/**
 * A drawing as an SVG document, which needs nothing from elsewhere. It is shown at its own size, or, where that is more than `most`, as
 * small as that.
 */
export function svgOf({ width, height, title, background, shapes }: Drawing, most?: Size): string {
    const share = most ? Math.min(1, most.width / width, most.height / height) : 1;
    const [wide, high] = [width, height].map((length) => Math.round(length * share));
    return [
        `<svg xmlns="http://www.w3.org/2000/svg" width="${wide}" height="${high}" viewBox="0 0 ${width} ${height}" font-family="system-ui, sans-serif">`,
        `<title>${escaped(title)}</title>`,
        `<defs><marker id="arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" orient="auto"><path d="M0 0L8 4L0 8z" fill="#7b8c97"/></marker></defs>`,
        `<rect width="${width}" height="${height}" fill="${background}"/>`,
        ...shapes.map(element),
        "</svg>",
        "",
    ].join("\n");
}

function element(shape: Shape): string {
    switch (shape.shape) {
        case "box": {
            const { x, y, width, height, radius, fill, stroke, title } = shape;
            return `<rect x="${x}" y="${y}" width="${width}" height="${height}" rx="${radius}" fill="${fill}" stroke="${stroke}" stroke-width="1.5"><title>${escaped(title)}</title></rect>`;
        }
        case "curve": {
            const { from, to, bend, stroke, dash } = shape;
            const dashes = dash.length > 0 ? ` stroke-dasharray="${dash.join(" ")}"` : "";
            return `<path d="M${from.x} ${from.y}C${from.x + bend} ${from.y} ${to.x - bend} ${to.y} ${to.x} ${to.y}" fill="none" stroke="${stroke}" stroke-width="1.5"${dashes} marker-end="url(#arrow)"/>`;
        }
        case "text": {
            const { x, y, size, isBold, isCentered, fill, text } = shape;
            const weight = isBold ? ` font-weight="600"` : "";
            const anchor = isCentered ? ` text-anchor="middle"` : "";
            return `<text x="${x}" y="${y}" font-size="${size}" fill="${fill}"${weight}${anchor} xml:space="preserve">${escaped(text)}</text>`;
        }
    }
}

const NAMES: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&apos;" };

/** A text within XML, which some characters cannot be part of at all. */
export function escaped(text: string): string {
    return text
        .replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, "\ufffd")
        .replace(/[&<>"']/g, (character) => NAMES[character] ?? "");
}
