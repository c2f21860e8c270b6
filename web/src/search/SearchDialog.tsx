import type { NodeRef } from "../address/view";
import { Name } from "../parts/Name";
import { Modal } from "../shell/Modal";
import { SearchField } from "./SearchField";

/** The search above whatever is shown, and from there the way to what is found. */
export function SearchDialog({ from, close }: { from: NodeRef | undefined; close: () => void }) {
    return (
        <Modal label="Search" close={close}>
            <SearchField autoFocus from={from} onChosen={close} />
            <p className="hint">
                <kbd>Enter</kbd> opens the lineage of what is chosen
                {from && (
                    <>
                        , <kbd>Shift Enter</kbd> the paths to it from <Name text={from.name} />
                    </>
                )}
                . Every word has to match.
            </p>
        </Modal>
    );
}
