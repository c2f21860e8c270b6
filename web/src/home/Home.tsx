import { useQuery } from "@tanstack/react-query";

import { overview } from "../api/questions";
import { Answer } from "../parts/Messages";
import { SearchField } from "../search/SearchField";
import { Attention } from "./Attention";
import { Estate } from "./Estate";
import { FirstSteps } from "./FirstSteps";

/** The start: search, what needs attention, and the estate. */
export function Home() {
    const found = useQuery(overview);
    return (
        <div className="home">
            <h1>Where does this number come from? What breaks if I change that table?</h1>
            <SearchField autoFocus />
            <Answer query={found}>
                {(data) =>
                    data.systems.length === 0 && data.job_types.length === 0 ? (
                        <FirstSteps />
                    ) : (
                        <>
                            <Attention overview={data} />
                            <Estate overview={data} />
                        </>
                    )
                }
            </Answer>
        </div>
    );
}
