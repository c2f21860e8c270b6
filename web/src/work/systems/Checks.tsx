import type { Schemas } from "../../api/client";
import { Name } from "../../parts/Name";
import { State } from "../../parts/State";

/** What a test of a source, an input or a target found, step by step. */
export function Checks({ checks: { works, checks } }: { checks: Schemas["SourceChecks"] }) {
    return (
        <div className="card">
            <h3>
                <State state={works ? "works" : "does not work"} />
            </h3>
            <ol className="plain rows">
                {checks.map(({ step, works: isFine, skipped, told, hint }) => (
                    <li key={step}>
                        <State state={skipped ? "skipped" : isFine ? "ok" : "failed"} />
                        <Name text={step} />
                        {told !== "" && (
                            <p className="hint">
                                <Name text={told} />
                            </p>
                        )}
                        {hint !== "" && (
                            <p className="hint">
                                <Name text={hint} />
                            </p>
                        )}
                    </li>
                ))}
            </ol>
        </div>
    );
}

/** The last failure of something that is done again and again. */
export function LastError({ error }: { error: Schemas["SourceFailure"] | undefined }) {
    if (!error) return null;
    return (
        <div className="notice bad">
            <div>
                <strong>
                    <Name text={error.message} />
                </strong>
                {error.hint !== "" && (
                    <p>
                        <Name text={error.hint} />
                    </p>
                )}
            </div>
        </div>
    );
}
