import { useQuery } from "@tanstack/react-query";

import { Problem, type Schemas } from "../../api/client";
import { publication } from "../../api/lists";
import { counted, whole } from "../../format/text";
import { CsvButton } from "../../parts/CsvButton";
import { Facts } from "../../parts/Facts";
import { Answer, Empty } from "../../parts/Messages";
import { FullName, Name, ShortName } from "../../parts/Name";
import { State } from "../../parts/State";
import { csvRows, Table, type Column } from "../../parts/Table";
import { Time } from "../columns";

type Operation = Schemas["PlannedOperation"];
type Finding = Schemas["DriftFinding"];

const OPERATIONS: readonly Column<Operation>[] = [
    { head: "Action", cell: ({ action }) => action, csv: { action: ({ action }) => action } },
    { head: "Kind", cell: ({ kind }) => kind, csv: { kind: ({ kind }) => kind } },
    {
        head: "What",
        isWide: true,
        cell: (item) => <FullName namespace={item.namespace} name={item.name} />,
        csv: { namespace: ({ namespace }) => namespace, name: ({ name }) => name },
    },
    {
        head: "Why",
        isWide: true,
        cell: ({ reason }) => <Name text={reason} />,
        csv: { reason: ({ reason }) => reason },
    },
    {
        head: "Outcome",
        cell: ({ outcome, detail }) => (
            <>
                {outcome ? <State state={outcome} /> : "planned"}
                {detail && (
                    <p className="hint">
                        <ShortName text={detail} most={200} />
                    </p>
                )}
            </>
        ),
        csv: { outcome: ({ outcome }) => outcome, detail: ({ detail }) => detail },
    },
];

const DRIFT: readonly Column<Finding>[] = [
    { head: "Drift", cell: ({ finding }) => finding },
    { head: "Kind", cell: ({ kind }) => kind },
    { head: "What", isWide: true, cell: (item) => <FullName namespace={item.namespace} name={item.name} /> },
];

/** The last plan or publication of a target, as it goes and as it went. */
export function Publication({ name, isContinuous }: { name: string; isContinuous: boolean }) {
    const found = useQuery(publication(name, isContinuous));
    if (found.error instanceof Problem && found.error.status === 404)
        return <Empty title={isContinuous ? "Nothing yet" : "Nothing was planned or published yet"} />;
    return <Answer query={found}>{(made) => <Made made={made} />}</Answer>;
}

function Made({ made }: { made: Schemas["PublicationItem"] }) {
    return (
        <>
            <p className="tools" role="status">
                <State state={made.state} />
                <span className="hint">
                    {made.plan_only ? "a plan" : "a publication"}, began <Time at={made.started_at} />
                    {made.ended_at !== undefined && (
                        <>
                            , ended <Time at={made.ended_at} />
                        </>
                    )}
                </span>
                {made.operations.length > 0 && (
                    <CsvButton name="operations" rows={() => csvRows(OPERATIONS, made.operations)} />
                )}
            </p>
            {made.error !== undefined && (
                <div className="notice bad">
                    <div>
                        <strong>
                            <Name text={made.error} />
                        </strong>
                        {made.hint !== undefined && (
                            <p>
                                <Name text={made.hint} />
                            </p>
                        )}
                    </div>
                </div>
            )}
            <Facts
                of={[
                    ["Should be there", counted(made.desired, "object")],
                    ["Already so", whole(made.unchanged)],
                    ...counts("To do", made.counts),
                    ...counts("Done", made.outcomes),
                    ...counts("Left as it is", made.kept),
                    ...counts("Cannot be expressed there", made.not_expressible),
                    ...(made.unmatched ?? []).map((filter): [string, string] => [
                        `Filter ${filter}`,
                        "matches nothing",
                    ]),
                ]}
            />
            {made.operations.length > 0 && (
                <Table label="Operations" columns={OPERATIONS} rows={made.operations} keyOf={keyOf} />
            )}
            {made.operations_left_out > 0 && (
                <p className="hint">and {counted(made.operations_left_out, "more operation")}</p>
            )}
            {made.drift.length > 0 && (
                <>
                    <h3>What others have changed there</h3>
                    <Table label="Drift" columns={DRIFT} rows={made.drift} keyOf={keyOf} />
                    {made.drift_left_out > 0 && <p className="hint">and {whole(made.drift_left_out)} more</p>}
                </>
            )}
        </>
    );
}

function counts(word: string, of: Readonly<Record<string, number>>): [string, string][] {
    return Object.entries(of).map(([what, count]) => [`${word}: ${what.replaceAll("_", " ")}`, whole(count)]);
}

function keyOf(item: { kind: string; namespace: string; name: string; action?: string; finding?: string }): string {
    return JSON.stringify([item.kind, item.namespace, item.name, item.action, item.finding]);
}
