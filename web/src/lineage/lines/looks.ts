/** How lines look: what the style sheets say about the path of a link, asked once for each look. */

export interface Look {
    stroke: string;
    width: number;
    opacity: number;
    dashes: number[];
    isRound: boolean;
}

export class Looks {
    private readonly known = new Map<string, Look>();

    /** `sample`: a group of a picture whose look is nobody's, with a group in it for the pulse, and in that one a path. */
    constructor(private readonly sample: SVGGElement) {}

    /** Of a link with these classes, whose flow has this tone; it is empty where the pulse is off. */
    of(classes: string, tone: string): Look {
        const key = `${classes}|${tone}`;
        const look = this.known.get(key) ?? this.ask(classes, tone);
        this.known.set(key, look);
        return look;
    }

    /** The style sheets may say something else now. */
    forget(): void {
        this.known.clear();
    }

    private ask(classes: string, tone: string): Look {
        const [group, path] = [this.sample.firstElementChild, this.sample.querySelector("path")];
        if (!group || !path) throw new Error("the sample of a line has no path");
        this.sample.setAttribute("class", `react-flow__edge ${classes}`);
        group.setAttribute("class", tone === "" ? "" : `pulse ${tone}`);
        const style = getComputedStyle(path);
        return {
            stroke: style.stroke,
            width: Number.parseFloat(style.strokeWidth),
            opacity: Number.parseFloat(style.strokeOpacity),
            dashes:
                style.strokeDasharray === "none" ? [] : style.strokeDasharray.split(/[\s,]+/).map(Number.parseFloat),
            isRound: style.strokeLinecap === "round",
        };
    }
}
