import type { Drawing, Shape } from "./drawing";

/** The most pixels of one side that every browser can draw. */
const MOST_SIDE = 16_000;
const MOST_PIXELS = 120_000_000;

/** A drawing as a PNG image, twice as large as it is where that is possible. Throws an Error if the browser cannot draw it. */
export async function pngOf(drawing: Drawing): Promise<Blob> {
    const { width, height } = drawing;
    const scale = Math.min(2, MOST_SIDE / width, MOST_SIDE / height, Math.sqrt(MOST_PIXELS / (width * height)));
    const canvas = document.createElement("canvas");
    canvas.width = Math.floor(width * scale);
    canvas.height = Math.floor(height * scale);
    const context = canvas.getContext("2d");
    if (!context) throw new Error("this browser cannot draw images");
    context.scale(scale, scale);
    context.fillStyle = drawing.background;
    context.fillRect(0, 0, width, height);
    for (const shape of drawing.shapes) draw(context, shape);
    const blob = await new Promise<Blob | null>((resolve) => canvas.toBlob(resolve, "image/png"));
    if (!blob) throw new Error("the picture is too large for an image");
    return blob;
}

function draw(context: CanvasRenderingContext2D, shape: Shape): void {
    context.beginPath();
    context.lineWidth = 1.5;
    switch (shape.shape) {
        case "box":
            context.roundRect(shape.x, shape.y, shape.width, shape.height, shape.radius);
            context.fillStyle = shape.fill;
            context.fill();
            context.strokeStyle = shape.stroke;
            context.stroke();
            break;
        case "curve": {
            const { from, to, bend } = shape;
            context.setLineDash([...shape.dash]);
            context.strokeStyle = shape.stroke;
            context.moveTo(from.x, from.y);
            context.bezierCurveTo(from.x + bend, from.y, to.x - bend, to.y, to.x, to.y);
            context.stroke();
            context.setLineDash([]);
            context.beginPath();
            context.moveTo(to.x + 1, to.y);
            context.lineTo(to.x - 9, to.y - 5);
            context.lineTo(to.x - 9, to.y + 5);
            context.fillStyle = shape.stroke;
            context.fill();
            break;
        }
        case "text":
            context.font = `${shape.isBold ? "600" : "400"} ${shape.size}px system-ui, sans-serif`;
            context.textAlign = shape.isCentered ? "center" : "start";
            context.direction = "ltr";
            context.fillStyle = shape.fill;
            context.fillText(shape.text, shape.x, shape.y);
    }
}
