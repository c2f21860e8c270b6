import type { Direction } from "../address/view";
import { Icon } from "./Icon";

interface Props {
    direction: Direction;
    /** What it is to look up- and downstream, in words. */
    words: Record<Direction, string>;
    choose: (direction: Direction) => void;
}

/** Which of the two directions is looked into. */
export function DirectionSwitch({ direction, words, choose }: Props) {
    return (
        <span className="segments" role="group" aria-label="Direction">
            {(["upstream", "downstream"] as const).map((each) => (
                <button key={each} type="button" aria-pressed={each === direction} onClick={() => choose(each)}>
                    <Icon name={each} />
                    {words[each]}
                </button>
            ))}
        </span>
    );
}
