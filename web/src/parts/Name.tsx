import { Fragment } from "react";

import { breakable, elided, visible } from "../format/text";

/** A whole name, broken into lines where it has dividers; its hidden characters are shown as codes. */
export function Name({ text }: { text: string }) {
    if (text === "") return <span className="name empty-name">(empty name)</span>;
    return (
        <span className="name" dir="ltr">
            {breakable(visible(text)).map((part, index) => (
                <Fragment key={index}>
                    {part}
                    <wbr />
                </Fragment>
            ))}
        </span>
    );
}

/** A name in little room: its middle is left out, its end stays; the whole of it is its title. */
export function ShortName({ text, most = 56 }: { text: string; most?: number }) {
    const whole = visible(text);
    const short = elided(whole, most);
    return short === whole ? (
        <Name text={text} />
    ) : (
        <span className="name" dir="ltr" title={whole.slice(0, 1000)}>
            {breakable(short).map((part, index) => (
                <Fragment key={index}>
                    {part}
                    <wbr />
                </Fragment>
            ))}
        </span>
    );
}

/** A name with its namespace below it. */
export function FullName({ namespace, name }: { namespace: string; name: string }) {
    return (
        <span className="full-name">
            <ShortName text={name} most={120} />
            <span className="namespace">
                <ShortName text={namespace} most={80} />
            </span>
        </span>
    );
}
