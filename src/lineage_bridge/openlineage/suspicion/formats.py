"""Formats of secrets, each with texts (in lower case) that a body with such a secret contains.

All texts are found in one pass; a pattern decides only where one of its texts was found. A list of patterns that `re` tries at every
position of a body takes ten times as long.
"""

import re
from collections.abc import Iterable
from typing import Final, NamedTuple

from lineage_bridge.openlineage.json_text import re2_finder
from lineage_bridge.openlineage.secret_rules.names import KEY_PARTS


class Format(NamedTuple):
    """A format: a secret may begin where one of the texts occurs, if the pattern matches there.

    `skipped`: how many bytes of the text precede the position at which the pattern is tried. `pattern`: None if the text alone is
    suspicious. `is_cased`: the pattern is matched with the body as it is, not in lower case.
    """

    texts: tuple[bytes, ...]
    pattern: "re.Pattern[bytes] | None" = None
    skipped: int = 0
    is_cased: bool = False


_SIGNS: Final = tuple(bytes((code,)) for code in range(256))
_NO_WORD: Final = tuple(sign for sign in _SIGNS if not re.match(rb"[a-zA-Z0-9]", sign))
_BEFORE_OPTION: Final = tuple(b" \t\n\r\x0b\x0c\"'(")
_KEY_OF: Final = b"ss nt pi on re er te et ed ng ge sh pg gp sa pp se ac wt ok th oy ls vt dk in".split()
"""The last letters of words before `key` in names of secrets."""
_GITLAB: Final = b"pat dt rt ptt cbt soat ft imt agent ffct oas wt".split()
_MARKED: Final = (
    b"hf r8 lb phx xau npm ntn tfp sgp gsk phc fo1 glc _v1 pat _pt sbp pnu pnb nfb nfc nfo nfp nfu aio fm1 fm2 glsa figd lsv2 dbtc dbtu"
    b" napi bkua rdme po_live po_test el_live el_test whsec shpaa shpat shpas shpca shpct shpcs shppa shppt shpps shpsa shpst shpss sa_sk"
    b" sntrys sntryu ccipat lin_api rubygems clojars y0 ckr_oat gta zpka bkaj mzp avns ccdb1 sm_aat ddapp"
).split()
"""Beginnings of tokens, before an underscore."""
_NAMES_IN_URLS: Final = b"key auth appid code session_id sessionid sid".split()
_LABELS: Final = b"api apikey key secret pat oat sat uat token tkn live prod test oauth _sk".split()
_ISSUERS: Final = b"rnd|ddp|ddo|ctp|cti|ion|sxp|twn|ina|pak|pat|uth|sqa|sqp|squ|[a-z][ilm]k"
"""The last three letters of tokens before an underscore."""
_BEHIND_UNDERSCORE: Final = re.compile(
    rb"_[a-z0-9]{20}(?:[a-z0-9]{28}|(?<=[1-3][a-z0-9]{26}_[1-7][a-z0-9]{19})[a-z0-9](?![a-z0-9])|[a-z0-9]{8}(?<=(?:%b)_[a-z0-9]{28})"
    rb"|(?<=re_[a-z0-9]{8}_[a-z0-9]{20})|[a-z0-9]{12}(?<=\d{6}_[a-z0-9]{32})|%b)"
    % (_ISSUERS, b"|".join(rb"(?<=%b_[a-z0-9]{20})" % label for label in _LABELS))
)
"""Long words behind an underscore; what is before them is looked at only then."""
_BEHIND_KEY: Final = tuple(b"\\\"' \t\n\r\x0b\x0c:=")


def _joined(before: Iterable[bytes], behind: Iterable[bytes]) -> tuple[bytes, ...]:
    behind = tuple(behind)
    return tuple(first + last for first in before for last in behind)


def _bytes(codes: Iterable[int]) -> tuple[bytes, ...]:
    return tuple(bytes((code,)) for code in codes)


def _format(texts: str, pattern: bytes = b"", skipped: int = 0) -> Format:
    return Format(tuple(texts.encode().split()), re.compile(pattern) if pattern else None, skipped)


def _cased(texts: str, pattern: bytes) -> Format:
    return Format(tuple(texts.encode().split()), re.compile(pattern), is_cased=True)


_BEFORE_WORDS: Final = (rb"\\[bfnrt]", rb"\\u[0-9a-f]{4}")
_BEGINS: Final = rb"(?:(?<![a-z0-9])|(?<=%b)|(?<=%b))" % _BEFORE_WORDS
"""A word begins here: after a sign, or after an escape of JSON, such as that of a line break."""
_NUMBERS: Final = _joined(b"mt mj mz nd nt nj nz od ot".split(), b"a e i m q u y c g k".split())
"""Beginnings of base64 of a decimal number."""
_WORDS: Final = (
    (_NO_WORD, (b"s.",), rb"s\.[a-z0-9]{24}\b"),
    (_NO_WORD, (b"a" * 20,), rb"a{20,22}[a-z0-9%]{60}"),
    (_bytes(b"\"' \t=:/(,<>[{;|-`_"), _NUMBERS, rb"[mno][a-z0-9]{23,27}\.[a-z0-9_\-]{6}\.[a-z0-9_\-]{27}"),
)
"""Patterns of secrets, with texts that they begin with and that are frequent inside of words: they are looked at behind these signs, and
behind escapes.
"""
_ESCAPES: Final = (b"\\b", b"\\f", b"\\n", b"\\r", b"\\t")
_MAKE: Final = b"|".join(rb"(?<=%b\.[a-z0-9]{%d})" % (end, length) for end in (b"k", b"ks") for length in range(1, 11))
FORMATS: Final = (
    _format("nrak- pmak- sk_live sk_prod sk_test rk_live rk_prod rk_test k.slack ks.slack k.zapier ks.zapier kb2/"),
    _format("xapp- xkeysib- sig= signature= github_pat_ ghp_ gho_ ghu_ ghr_ ghs_"),
    Format(_joined([b"gl"], [kind + b"-" for kind in _GITLAB])),
    Format(_joined(_KEY_OF, [b"key", b"_key", b".key", b"-key", b" key"])),
    _format("<<< ;p= @tcp( @unix( /hook/ pwd%3d ya29. hvs. hvb. hvr. .atlasv1. .logon"),
    _format("v1.local. v2.local. v3.local. v4.local. v1.public. v2.public. v3.public. v4.public."),
    Format(_joined([b"?", b"&"], [name + b"=" for name in _NAMES_IN_URLS])),
    Format((b"sk ",), re.compile(_BEGINS + rb"sk [a-z0-9+/]{20}")),
    _format(".make", _MAKE),
    _format("ks/", rb"ks/\d"),
    Format(
        _joined([b"key"], _bytes(_BEHIND_KEY)),
        re.compile(
            rb"key[\\]{0,3}(?:[\"']?\s{0,2}[:=]\s{0,2}[\\]{0,3}[\"']?(?=[a-z+/_\\\-]{0,4096}\d)[a-z0-9+/_\\\-]{24}"
            rb"|[\"'],\s?[\\]{0,3}[\"']value)"
        ),
    ),
    Format(
        tuple(b'"%b"' % part.encode() for part in sorted(KEY_PARTS)),
        re.compile(rb'"[dpqik]{1,2}"\s{0,8}:\s{0,8}"(?=[a-z_\\\-]{0,200}\d)[a-z0-9_\\\-]{40}'),
    ),
    _format("bearer basic", rb"(?:bearer|basic)\s"),
    _format("xox", rb"xox[a-z]-"),
    _format("xai-", rb"xai-[a-z0-9]{20}"),
    _format("sid=", rb"sid=[a-z0-9]"),
    _format("--user --proxy-user", rb"--(?:proxy-)?user[ =n\"'\\]"),
    Format(
        _joined(_bytes(_BEFORE_OPTION), _joined([b"-"], _bytes(b"upawbknxh"))),
        re.compile(rb"-(?:[upawbkn]\b|u[a-z0-9_.\-]{1,64}:|p|xp|hmac)"),
        1,
    ),
    _format("pul-", rb"pul-[a-f0-9]{8}"),
    _format("pat-", rb"pat-[ne][au]\d-"),
    _format("tskey- cfpat- csp- atp-", rb"[a-z]{3,5}-[a-z0-9_\-]{6}"),
    Format(tuple(name + b"_" for name in _MARKED), re.compile(rb"(?:%b)_[a-z0-9_+/=\\\-]{6}" % b"|".join(_MARKED))),
    _format("pcsk_ live_ test_", rb"[a-z]{4}_(?=[a-z0-9]{30})"),
    _format("ls__", rb"ls__[a-f0-9]{20}[a-z0-9_\-]{6}"),
    _format("sg. sl.", _BEGINS + rb"s(?:g\.|l\.(?:u\.)?)[a-z0-9_\-]{16}"),
    _format("dp.", rb"dp\.(?:[a-z]{2}|scim|audit)\.(?:[a-z0-9_\-]{2,35}\.)?[a-z0-9_]{30}"),
    Format((b"flyv1 fm",)),
    Format(_joined([b"st-", b"pt-", b"gt-"], _bytes(b"0123456789")), re.compile(rb"[spg]t-\d{1,9}-[a-z0-9]{20}")),
    *(Format(_joined(signs, words), re.compile(pattern), 1) for signs, words, pattern in _WORDS),
    *(Format(_joined(_ESCAPES, words), re.compile(pattern), 2) for _, words, pattern in _WORDS),
    _format("sha256~ gr1348941 fio-u- dnkey- p8e- xsmtpsib- tk-us- tk-eu- s-s4t2 amzn.mws. oa2-cs.v1. atza| atzr| altak- swmtkn-"),
    _format("aaincd :apa91b ssws nrii- nriq- nrra- nrsp- nrjs- nrbr- snyk_uat. snyk_sat. snyk_pat. dkuaps-"),
    _format("access-sandbox- access-development- access-production- xaat- xapt-", rb"[a-z]{4,6}(?:-[a-z]{4,11})?-[0-9a-f]{8}"),
    _format("ico-", rb"ico-[a-z0-9]{32}"),
    _cased("api-", rb"API-[A-Z0-9]{26}"),
    _cased("do00 scw", rb"(?:DO00|SCW)[A-Z0-9]{16}"),
    _format("da2-", rb"da2-[a-z0-9]{26}"),
    _format("sdk-", rb"sdk-[0-9a-f]{8}-"),
    _format("waka_ jina_ e2b_", rb"[a-z0-9]{3,4}_[0-9a-f]{8}"),
    _format("asqg", rb"asqg[a-z0-9+/_=\\\-]{30}"),
    _format(
        "+ast +aba +amc +asb +aeh +arm +acr acdb apim aiot azca azse azfu jqqj9",
        rb"(?<=[a-z0-9+/\\_\-]{30})[+aj][a-z0-9+/\\_\-]{7}",
    ),
    _format("nf-", rb"nf-[a-z0-9]{32}"),
    _format("a3-", rb"a3-[a-z0-9]{6}-[a-z0-9]{5}"),
    _format("_mmk", rb"(?<=[a-z0-9]{29})_mmk"),
    _format("sat.", rb"sat\.[a-z0-9_\-]{22}\."),
    _format("t1.", rb"t1\.[a-z0-9_\-]{8,200}={0,2}\.[a-z0-9_\-]{60}"),
    _format("sts.", rb"sts\.[a-z0-9]{20}"),
    _cased("4b1d", rb"4b1d[A-Za-z0-9]{38}"),
    _format("dose dkea", rb"d(?:ose|kea)[a-f0-9]{32}"),
    _format("pbkdf2 bcrypt scrypt argon2", rb"(?:pbkdf2|bcrypt|scrypt|argon2)[_\-]?\w{0,12}\$\d{1,9}\$"),
    _format("dt0", rb"dt0[a-z]\d\d\."),
    _format("hmac", rb"hmac\d{3}\("),
    _format("/hooks/", rb"/hooks/[a-z0-9]{26}"),
    _format("/p/", rb"/p/[a-z0-9_\-]{40}"),
    _cased("akia asia abia acca", rb"A(?:[KSB]I|CC)A[0-9A-Z]{16}"),
    _cased("aiza atatt3 atctt3 ezak eztk ltai", rb"AIza|AT[AC]TT3|EZ[AT]K|LTAI"),
    _cased("absk akcp akid aqvn eaa", rb"A(?:BSK[A-Za-z0-9]{10}|KCp[A-Za-z0-9]{10}|KID[A-Za-z0-9]{20}|QVN[\w\-]{10})|EAA[\w\-]{20}"),
    _cased("q~", rb"Q~"),
    Format(_joined([b"sk"], _bytes(b"0123456789abcdef")), re.compile(rb"SK[0-9a-f]{32}"), is_cased=True),
    _cased(":aa", rb":AA[A-Za-z0-9]"),
)


class Frequent(NamedTuple):
    """A format that begins with a text which is frequent, and so short that looking at each would cost much.

    `widened`: for RE2; it matches wherever the pattern does.
    """

    text: bytes
    widened: str
    pattern: "re.Pattern[bytes]"


def _behind(text: str) -> bytes:
    """A pattern that begins with a text, so that `re` looks for it natively, and matches only where a word begins with it."""
    begins = (rb"(?<![a-z0-9]%b)", *(rb"(?<=%b%%b)" % before for before in _BEFORE_WORDS))
    return text.encode() + rb"(?:%b)" % b"|".join(pattern % text.encode() for pattern in begins)


FREQUENT: Final = (
    Frequent(b"sk-", r"sk-[a-z0-9_\-]{19}", re.compile(_behind("sk-") + rb"[a-z0-9_\-]{19}")),
    Frequent(b"key-", r"key-[0-9a-f]{32}", re.compile(rb"key-[0-9a-f]{32}")),
    Frequent(b"-us", r"[0-9a-f]{4}-us[0-9]", re.compile(rb"-us\d(?<=[0-9a-f]{4}-us\d)")),
    Frequent(b"cio", r"cio[a-z0-9]{32}", re.compile(_behind("cio") + rb"(?=[a-z]{0,30}\d)[a-z0-9]{32}")),
    Frequent(b"fc-", r"fc-[a-f0-9]{32}", re.compile(_behind("fc-") + rb"[a-f0-9]{32}")),
    Frequent(b"csk-", r"csk-[a-z0-9]{40}", re.compile(rb"csk-[a-z0-9]{40}")),
    Frequent(b"_", r"_[a-z0-9]{20}", _BEHIND_UNDERSCORE),
    Frequent(b"pat", r"pat(?:[a-z0-9]{14}|\.[a-z0-9_\-]{22})\.", re.compile(rb"pat(?:[a-z0-9]{14}|\.[a-z0-9_\-]{22})\.")),
    Frequent(
        b"\\u",
        r"\\u(?:00[2-7]|[0-9a-f]{4}(?:s\.|aaaa|[mno][dtjz]))",
        re.compile(
            rb"\\u(?:00[2-7][0-9a-f](?:\\u00[2-7][0-9a-f]){0,99}|[0-9a-f]{4}(?:%b))" % b"|".join(pattern for _, _, pattern in _WORDS)
        ),
    ),
    Frequent(
        b"$",
        r"\$(?:2[abxy]|apr1|[1567y]|sha1|scrypt)\$|\$argon2",
        re.compile(rb"%b\$(?:(?:2[abxy]|apr1|[1567y]|sha1|scrypt)\$|argon2)" % _BEGINS),
    ),
    Frequent(b"|", r"\|[\s\v]{0,3}(?:su|ktutil|gpg|gcloud)", re.compile(rb"\|\s{0,3}(?:sudo|su\b|ktutil|gpg|gcloud)")),
    Frequent(b"!", r"00d[a-z0-9]{12,15}!", re.compile(rb"!(?:(?<=00d[a-z0-9]{12}!)|(?<=00d[a-z0-9]{15}!))")),
)
MAY_HAVE_FREQUENT: Final = re2_finder("|".join(frequent.widened for frequent in FREQUENT))
"""Matches if a body in lower case may have any of these formats, found out in one pass."""
