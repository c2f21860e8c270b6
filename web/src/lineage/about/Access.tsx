import { useQuery } from "@tanstack/react-query";

import type { NodeRef } from "../../address/view";
import { access } from "../../api/questions";
import { moment } from "../../format/text";
import { Facts } from "../../parts/Facts";
import { Answer } from "../../parts/Messages";
import { notObserved } from "../../trace/access";
import { Jobs, Right } from "../../trace/AccessFacts";

/** Who may read and write a dataset, as of the time of the view, and which jobs do. */
export default function AccessOf({ node, at }: { node: NodeRef; at: string }) {
    return (
        <Answer query={useQuery(access(node, at))}>
            {({ access: found }) => (
                <>
                    <Facts
                        of={[
                            [found.may_read ? "May read" : "Rights", <Right key="read" access={found} right="read" />],
                            ["May write", found.may_read && <Right key="write" access={found} right="write" />],
                            ["Read by", <Jobs key="readers" jobs={found.readers} />],
                            ["Written by", <Jobs key="writers" jobs={found.writers} />],
                            ["Reported", found.observed && moment(found.observed)],
                        ]}
                    />
                    {found.cut && <p className="hint">Not everybody is listed.</p>}
                    {found.may_read && (
                        <p className="hint">
                            By the rules (ACLs) that the system has for its topics. Not included: {notObserved([found])}
                            .
                        </p>
                    )}
                </>
            )}
        </Answer>
    );
}
