/** Reads server-sent events from the pieces of a stream. Pure. */

export interface ServerEvent {
    name: string;
    data: string;
}

export class EventReader {
    private readonly decoder = new TextDecoder();
    private rest = "";

    /** The events that are complete with this piece; comments and waiting times are left out. */
    read(piece: Uint8Array): ServerEvent[] {
        const blocks = (this.rest + this.decoder.decode(piece, { stream: true })).split("\n\n");
        this.rest = blocks.pop() ?? "";
        return blocks.flatMap(eventOf);
    }
}

function eventOf(block: string): ServerEvent[] {
    const lines = block.split("\n");
    const valuesOf = (name: string) =>
        lines.filter((line) => line.startsWith(`${name}: `)).map((line) => line.slice(name.length + 2));
    const data = valuesOf("data");
    return data.length === 0 ? [] : [{ name: valuesOf("event").at(-1) ?? "message", data: data.join("\n") }];
}
