"""Finds the parts of a body that may contain a secret, by a fast search of the bytes before parsing."""

import re
from functools import lru_cache

from ahocorasick_rs import BytesAhoCorasick, Implementation

from lineage_bridge.openlineage.secret_rules.foreign import foreign_offsets

_KEY_OF = rb"ss|nt|pi|on|re|er|te|et|ed|ng|ge|sh|pg|gp|sa|pp|se|ac|wt|ok|th|oy|ls|vt|dk|in"
# Every alternative starts with a character that is rare in events and looks back from there, which is five times as fast.
_SUSPECT = re.compile(
    rb"k(?:-(?:(?<=\Wsk-)|(?<=(?:nra|pma)k-))|_(?<=[sr]k_)(?:live|prod|test)|s?\.(?:slack|zapier|[a-z0-9]{1,10}\.make)|s/\d|b2/)"
    rb"|k(?<=\Wsk) [a-z0-9+/]{20}"
    rb"|key(?:(?<=(?:%b)key)|(?<=(?:%b)[_.\- ]key)|-[0-9a-f]{32}|[\\\\]{0,3}[\"']?\s{0,2}[:=]\s{0,2}[\\\\]{0,3}[\"']?"
    rb"(?=[a-z+/_\\\\\-]{0,4096}\d)[a-z0-9+/_\-]{24}"
    rb"|[\\\\]{0,3}[\"'],\s?[\\\\]{0,3}[\"']value)"
    rb"|b(?:earer|asic)\s|g(?:h[pousr]_|ithub_pat_|l(?:pat|dt|rt|ptt|cbt|soat|ft|imt|agent)-)|x(?:ox[a-z]-|app-|ai-[a-z0-9]{20}|keysib-)"
    rb"|=(?:(?<=sig=)|(?<=signature=)|(?<=sid=)[a-z0-9])|\\u00[2-7][0-9a-f](?:\\u00[2-7][0-9a-f]){0,99}"
    rb"|-(?:-(?:proxy-)?user[ =n\"\\]|(?<=[\s\"'(]-)(?:[upawbkn]\b|p|xp|hmac))|-us(?<=[0-9a-f]{4}-us)\d"
    rb"|-(?:(?<=pul-)[a-f0-9]{8}|(?<=pat-)[ne][au]\d-)"
    rb"|-(?:(?<=tskey-)|(?<=cfpat-)|(?<=(?:csp|atp)-))[a-z0-9_\-]{6}"
    rb"|_(?:(?<=(?:hf|r8|lb)_)|(?<=(?:phx|xau)_)|(?<=(?:pcsk|live|test)_)(?=[a-z0-9]{30})|(?<=ls__)[a-f0-9]{20}|(?<=(?:npm|ntn|tfp|sgp|gsk|phc|fo1|glc|_v1|pat|_pt|sbp|pnu|pnb|nfp|aio|fm1|fm2)_)|(?<=(?:glsa|figd|lsv2)_)"
    rb"|(?<=(?:dbtc|dbtu|napi|bkua|rdme)_)|(?<=(?:po|el)_(?:live|test)_)|(?<=(?:whsec|shp[acps][ats]|sa_sk)_)"
    rb"|(?<=(?:sntrys|sntryu|ccipat)_)|(?<=lin_api_)|(?<=rubygems_))[a-z0-9_\-]{6}"
    rb"|\.(?:(?<=ya29\.)|(?<=\Wsg\.)|(?<=\Wsl\.)|(?<=hv[sbr]\.)|(?<=\.atlasv1\.)|(?<=dp\.[a-z][a-z]\.)|(?<=v[1-4]\.local\.)|(?<=v[1-4]\.public\.)|(?<=\Ws\.)[a-z0-9]{24}\b|(?<=dt0[a-z]\d\d\.)|(?<=pat[a-z0-9]{14}\.)|logon)"
    rb"|\((?<=hmac\d{3}\()"
    rb"|\$(?:(?<![a-z0-9_]\$)|(?<=\\[bfnrt]\$)|(?<=\\u[0-9a-f]{4}\$))(?:2[abxy]\$|apr1\$|[1567y]\$|argon2)|\$\d{3,7}\$"
    rb"|<<<|\|\s{0,3}(?:sudo|su\b|ktutil|gpg|gcloud)|\?(?:key|auth|appid|code|session_?id|sid)=|&(?:key|auth|appid|code|session_?id|sid)=|;p=|@(?:tcp|unix)\(|/hook/|/hooks/[a-z0-9]{26}|/p/[a-z0-9_\-]{40}"
    rb"|!(?:(?<=00d[a-z0-9]{12}!)|(?<=00d[a-z0-9]{15}!))|pwd%%3d" % (_KEY_OF, _KEY_OF)
)
_UPPER = re.compile(
    rb"A(?:[KSB]IA[0-9A-Z]{16}|CCA[0-9A-Z]{16}|Iza|T[AC]TT3|BSK[A-Za-z0-9]{10}|KCp[A-Za-z0-9]{10}|KID[A-Za-z0-9]{20}|QVN[A-Za-z0-9]{10})|EAA[A-Za-z0-9]{20}|EZ[AT]K"
    rb"|LTAI|~(?<=Q~)|SK[0-9a-f]{32}|:AA[A-Za-z0-9]"
)
_MARKS = (
    b"-creds",
    b".com/integration/",
    b".p12:",
    b".pem:",
    b"/webhook",
    b"1//0",
    b":5432:",
    b"account_add",
    b"alias set",
    b"private-mac",
    b"key '",
    b"sntrys_",
    b"log in as",
    b"awsauth",
    b"gcsauth",
    b"pragma",
    b"openrowset",
    b"set_authentication",
    b"sp_addlogin",
    b'bearer"',
    b"passord",
    b"parola",
    b"heslo",
    b"salasana",
    b"adgangskode",
    b"atbb",
    b'auth"',
    b"auth\\",
    b"cflt",
    b"clave",
    b"cmvmd",
    b"codice segreto",
    b"connect to",
    b"contrasena",
    b"creds",
    b"expdp",
    b"flwseck",
    b"freerdp",
    b"ftp -n",
    b"gh_pat",
    b"goog1e",
    b"googlelogin",
    b"hc-ping.com/",
    b"hrku-",
    b"ifttt.com/",
    b"impdp",
    b"input_pw",
    b"isql ",
    b'kty"',
    b"kty\\",
    b"materializedmysql",
    b"materializedpostgresql",
    b"{ssha",
    b"{sha",
    b"{smd5",
    b"{md5",
    b"{crypt",
    b"md5",
    b"auth: ",
    b"bgkqhkig9w0bbq0w",
    b"byqgsm49ageg",
    b"ewogicj0exblijog",
    b"fqodyxdze",
    b"fqogzxivyxdze",
    b"fwogzxivyxdze",
    b"gcsqgsib3dqefdt",
    b"ibaakca",
    b"ibadanbgkqhkig9w0baqefaasc",
    b"iqojb3jpz2lux2vj",
    b"mhccaqeei",
    b"migkagebbd",
    b"mihcagebbei",
    b"api.telegram.org/bot",
    b"mnemonic",
    b"mot de passe",
    b"net use",
    b"nral",
    b"openvpn",
    b"otp",
    b'pin"',
    b"pin:",
    b"pin is",
    b"private-lines",
    b"psk",
    b"rabbitmqctl",
    b"recovery_code",
    b"redis_auth",
    b"rediscli",
    b"root_pw",
    b"samlresponse",
    b"scram-sha-",
    b"securestring",
    b"seed_phrase",
    b"senha",
    b"serviceticket",
    b"signatureprovided",
    b"signaturevalue",
    b"snmp",
    b"sqlldr",
    b"sqlplus",
    b"tochararray",
    b"loginmodule",
    b"wachtwoord",
    b"zookeeper.digest",
    b"pass",
    b"pswd",
    b"pwd",
    b"pw ",
    b"pw:",
    b"pw=",
    b"pypi-",
    b"pplx-",
    b"pscale_",
    b"secret",
    b"credential",
    b"authoriz",
    b"jaas",
    b"jwt",
    b"nvapi-",
    b"oy2",
    b"eyj",
    b"token",
    b"cookie",
    b"kennwort",
    b"kinit",
    b"userinfo",
    b"user_info",
    b"user.info",
    b"user-info",
    b"identified",
    b"gocspx-",
    b"dapi0",
    b"dapi1",
    b"dapi2",
    b"dapi3",
    b"dapi4",
    b"dapi5",
    b"dapi6",
    b"dapi7",
    b"dapi8",
    b"dapi9",
    b"dapia",
    b"dapib",
    b"dapic",
    b"dapid",
    b"dapie",
    b"dapif",
    b"auth(",
    b"auth=(",
    b"cipher(",
    b"client(",
    b"connect(",
    b"crypt(",
    b"dentials(",
    b"fernet(",
    b"gcs(",
    b"keyspec(",
    b"login(",
    b"mac(",
    b"mac.new(",
    b"mongodb(",
    b"mysql(",
    b"mysqli(",
    b"nnection(",
    b"oss(",
    b"pdo(",
    b"postgresql(",
    b"remote(",
    b"remotesecure(",
    b"s3(",
    b"s3cluster(",
)
"""Further texts, in lower case, that are looked for together."""
_WHOLE_NAMES = (
    "pin|otp|tan|cvv|cvc|seed|phrase|cred|tok|salt|pepper|hmac|csrf|xsrf|session|auth|id_rsa|private|priv|pw|sessionid|session_id"
    "|cle|cle_api|sandi|mima|mdp|parol|bearer|code_verifier|oauth_verifier|device_code|phrase_secret"
)

_ENDS = ('"', "\\", "=", ": ", "_db", "'")
_RARE = (
    "losenord|sifre|haslo|jelsz|lozinka|geslo|parool|slapta|kodeord|motdepasse|mot_de_passe|mot-de-passe|palavra|palabra|zugang"
    "|kata_sandi|kata sandi|mat_khau|matkhau|mat khau|schluessel|schl|nyckel|sleutel|chave|chiave|klucz|anahtar|klyuch|kunci"
    "|rahasia|kodikos|gizli|geheim|jeton|bimilbeonho|secret|segret|segredo|hemlig|masterauth|requirepass|privkey|priv_key|clave"
    "|codigo|mfa_code|sms_code|ation_code|unlock_code|pincode|pin_code|otp_code|security_code|auth_code|zaporka|fjalekalimi"
    "|lykilord|pasahitza|nenosiri|wagwoord|parol|mdp_|cle_secrete|_cred|cred_|whsec_|pcsk_|vercel_blob|vcp_|vck_|vci_|vca_|vcr_"
    "|rpa_|tvly-|absk|cio_|v1.0-|fw_|ation code|ity code|login code|access code|2fa code|mfa code|sms code|rootpw|seed phrase"
    "|ery phrase|rsakeyvalue|net user|useradd -p|usermod -p|aes.new|pbkdf2|contrasen|.new(b|clave_|llave_|mot_passe|cle_priv"
    "|toegangscode|avain|kata_kunci|kata kunci|contraseñ|privee|token de acceso|authcode|passcode|pkcs8|setbasicauth("
    '|basicauthentication(|.basic(|--body |storepasswd|pass phrase|secret set |wallet|recovery|backup_phrase|jsession|_session"'
)

_OWNED_KEYS = tuple(
    f"{owner}{sign}key"
    for owner in (
        "aes",
        "bot",
        "crypt",
        "data",
        "database",
        "db",
        "des",
        "enc",
        "openai",
        "maps",
        "sec",
        "sendgrid",
        "server",
        "service",
        "stripe",
        "props",
        "gemini",
        "mistral",
        "twilio",
        "mailgun",
        "s3",
    )
    for sign in ("", "_", "-", ".")
)
_WEAK_MARKS = [
    text.encode() for text in (*_RARE.split("|"), *_OWNED_KEYS, *(name + end for name in _WHOLE_NAMES.split("|") for end in _ENDS))
]
_ANY_MARK = BytesAhoCorasick(sorted({*_MARKS, *_WEAK_MARKS}), implementation=Implementation.DFA)
_USER_INFO = re.compile(rb":\\?/\\?/[^\s\"/@]{0,300}@|:oracle:[^\s\"@]{0,300}@|[\w.\-]:[^\s\"/@:]{3,128}@|\w/[^\s\"/@:]{1,64}@")
_MASKED = re.compile(rb"(?<![\w.\-])[\w.\-]+=\*{8}(?:(?:[0-9a-f]{8}){1,2})?(?=[\"\s/])|\"[\w.\-]+\"\s*:\s*\"\*{8}\"")
_CACHED = 8192
_CACHED_BYTES = 2048


def is_suspicious(piece: bytes) -> bool:
    """Whether a piece of JSON may contain a secret. Short pieces are cached, since producers repeat themselves."""
    return _is_suspicious_cached(piece) if len(piece) <= _CACHED_BYTES else _is_suspicious(piece)


def _is_suspicious(piece: bytes) -> bool:
    text = _MASKED.sub(b"", piece) if b"********" in piece else piece
    if b"@" in text and _USER_INFO.search(text):
        return True
    lower = text.lower()
    # The marks are looked for first: it costs least, and most of what is suspicious has one.
    return bool(_ANY_MARK.find_matches_as_indexes(lower) or _SUSPECT.search(lower) or _UPPER.search(text) or foreign_offsets(text))


_is_suspicious_cached = lru_cache(_CACHED)(_is_suspicious)


def suspicious_offsets(raw: bytes) -> list[int]:
    """The sorted positions in a body where a secret, or the name of one, may begin. Pieces without such a position are not suspicious."""
    lower = raw.lower()
    found = (
        match.start()
        for pattern, text in (
            (_SUSPECT, lower),
            (_UPPER, raw),
            (_USER_INFO, raw if b"@" in raw else b""),
        )
        for match in pattern.finditer(text)
    )
    marks = (start for _, start, _ in _ANY_MARK.find_matches_as_indexes(lower))
    return sorted((*found, *marks, *foreign_offsets(raw)))
