/** Which words of an SQL text name columns. By their spelling alone: nothing says where in a text a flow of columns comes from. Pure. */

/** What a column is to a flow of columns: that it comes from it, that it goes into it, or both. */
export type Role = "from" | "into" | "both";

export interface Part {
    text: string;
    /** Undefined for what names no column of the flow. */
    role?: Role;
}

const TOKENS = new RegExp(
    [
        String.raw`--[^\n]*`,
        String.raw`/\*[\s\S]*?(?:\*/|$)`,
        String.raw`'(?:[^']|'')*(?:'|$)`,
        String.raw`(?<quoted>"(?:[^"]|"")*"|${"`"}(?:[^${"`"}]|${"``"})*${"`"})`,
        String.raw`(?<word>[\p{L}_][\p{L}\p{N}_$]*)`,
        String.raw`\d[\p{L}\p{N}_.]*`,
        String.raw`[\s\S]`,
    ].join("|"),
    "gu",
);

interface Token {
    text: string;
    /** The name that the token writes; undefined if it writes none. */
    name?: string;
    isQuoted: boolean;
}

/**
 * An SQL text in parts, the names of columns marked.
 *
 * Marked is a name (in any case, if it is not quoted) that is the last of its chain, such as `o.total`; of a column with dots, such as
 * `payload.total`, its names in a row are. Not marked are names of tables before a dot, of functions before a parenthesis, and all that is in
 * comments and literals.
 */
export function markColumns(sql: string, from: Iterable<string>, into: Iterable<string>): Part[] {
    const named = (columns: Iterable<string>, role: Role) =>
        [...columns].map((name) => ({ names: name.split("."), role }));
    const columns = [...named(from, "from"), ...named(into, "into")];
    const tokens = tokensOf(sql);
    const roles = new Array<Role | undefined>(tokens.length);
    for (let start = 0; start < tokens.length; start++) {
        if (tokens[start]?.name === undefined) continue;
        const chain = [start];
        let end = start;
        while (tokens[end + 1]?.text === "." && tokens[end + 2]?.name !== undefined) chain.push((end += 2));
        const next = nextText(tokens, end + 1);
        if (next !== "(" && next !== ".") {
            for (const { names, role } of columns) {
                const last = chain.slice(-names.length);
                if (last.length !== names.length || !last.every((at, index) => isName(tokens[at], names[index])))
                    continue;
                for (let at = last[0] ?? end; at <= end; at++) {
                    roles[at] = roles[at] === undefined || roles[at] === role ? role : "both";
                }
            }
        }
        start = end;
    }
    return joined(tokens, roles);
}

function tokensOf(sql: string): Token[] {
    return Array.from(sql.matchAll(TOKENS), ({ 0: text, groups }): Token => {
        if (groups?.quoted !== undefined) {
            const quote = text.charAt(0);
            return { text, name: text.slice(1, -1).replaceAll(quote + quote, quote), isQuoted: true };
        }
        return groups?.word === undefined ? { text, isQuoted: false } : { text, name: text, isQuoted: false };
    });
}

/** The first token behind white space. */
function nextText(tokens: readonly Token[], from: number): string | undefined {
    let at = from;
    while (/^\s$/.test(tokens[at]?.text ?? "")) at++;
    return tokens[at]?.text;
}

function isName(token: Token | undefined, name: string | undefined): boolean {
    if (token?.name === undefined || name === undefined) return false;
    return token.isQuoted ? token.name === name : token.name.toLowerCase() === name.toLowerCase();
}

function joined(tokens: readonly Token[], roles: readonly (Role | undefined)[]): Part[] {
    const parts: Part[] = [];
    tokens.forEach(({ text }, at) => {
        const role = roles[at];
        const last = parts.at(-1);
        if (last && last.role === role && (role === undefined || roles[at - 1] === role)) last.text += text;
        else parts.push(role === undefined ? { text } : { text, role });
    });
    return parts;
}
