import { Modal } from "../shell/Modal";
import { SearchField } from "./SearchField";

export function SearchDialog({ close }: { close: () => void }) {
    return (
        <Modal label="Search" close={close}>
            <SearchField autoFocus onChosen={close} />
            <p className="hint">Enter opens the lineage of what is chosen. Every word has to match.</p>
        </Modal>
    );
}
