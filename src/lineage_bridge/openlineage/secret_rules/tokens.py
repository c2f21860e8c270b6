"""Formats of tokens, as their issuers document them and secret scanners (gitleaks, detect-secrets) look for them."""

from lineage_bridge.openlineage.required_text import Uncompiled

_WORD = r"[A-Za-z0-9_\-]"
_UUID = r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
_BASE64 = r"[A-Za-z0-9+/]{30,}(?:\n[A-Za-z0-9+/]{20,})*(?:\n[A-Za-z0-9+/]{2,19}=)?={0,2}"
"""In one line or in several."""
_MIXED = r"(?=[a-z0-9_\-]{0,60}[A-Z])(?=[A-Z0-9_\-]{0,60}[a-z])"
"""Small and capital letters follow, as in random characters, but seldom in names of tables and columns."""
_RANDOM = r"(?=[^\d\s]{0,40}\d)(?=[^A-Z\s]{0,40}[A-Z])(?=[^a-z\s]{0,40}[a-z])"
"""Letters of both cases and a digit follow."""
_MORE_RANDOM = r"(?=[A-Za-z]{0,30}\d{1,9}[A-Za-z]{1,30}\d)" + _RANDOM
"""Also a second number follows, which names written in camel case hardly have."""
_NO_CAMEL_CASE = r"(?!(?:[A-Z][a-z]{2,20}\d{0,8}){1,8}(?:[A-Z]\d{1,3})?(?![A-Za-z0-9]))"
_END = r"(?![A-Za-z0-9])"
TOKENS = (
    rf"gh[pousr]_[A-Za-z0-9]{{20,}}|github_pat_\w{{20,}}|gl(?:pat|dt|rt|ptt|cbt|soat|ft|imt|agent|ffct|oas|wt)-{_WORD}{{16,}}",
    rf"xox[a-z](?:\.xox[a-z])?-{_WORD}{{8,}}|xapp-{_WORD}{{10,}}",
    rf"sk-(?:(?:ant|proj|svcacct|admin|None|or|lf)-{_WORD}{{16,}}|{_WORD}{{0,8}}[A-Za-z0-9]{{20,}}{_WORD}*)|(?:sk|rk)_(?:live|test|prod)_[A-Za-z0-9]{{10,}}|whsec_[A-Za-z0-9+/=]{{16,}}",
    rf"AIza{_WORD}{{30,}}|ya29\.{_WORD}{{20,}}|GOCSPX-{_WORD}{{20,}}",
    rf"dapi[a-f0-9]{{32}}(?:-\d)?|hf_[A-Za-z0-9]{{20,}}|npm_[A-Za-z0-9]{{30,}}|pypi-{_WORD}{{16,}}",
    rf"SG\.{_WORD}{{16,}}\.{_WORD}{{16,}}|key-[0-9a-f]{{32}}|SK[0-9a-f]{{32}}|xkeysib-[0-9a-f]{{32,}}(?:-\w+)?|[0-9a-f]{{32}}-us\d{{1,2}}",
    rf"shp(?:at|ca|pa|ss)_[A-Fa-f0-9]{{32}}|do[oprt]_v1_[a-f0-9]{{32,}}|dckr_pat_{_WORD}{{20,}}|hv[sbr]\.{_WORD}{{20,}}|{_WORD}{{14}}\.atlasv1\.{_WORD}{{40,}}",
    rf"gl(?:sa|c)_[A-Za-z0-9+/=_]{{20,}}|NRAK-[A-Z0-9]{{20,}}|PMAK-{_WORD}{{40,}}|figd_{_WORD}{{30,}}|lin_api_[A-Za-z0-9]{{30,}}|ntn_[A-Za-z0-9]{{30,}}",
    rf"sq0(?:atp|csp)-{_WORD}{{20,}}|EAAC{_WORD}{{30,}}|sntryu_{_WORD}{{30,}}|pscale_(?:tkn|pw|oauth)_{_WORD}{{20,}}|lsv2_(?:pt|sk)_\w{{20,}}",
    rf"rubygems_[a-f0-9]{{40,}}|oy2[a-z0-9]{{43}}|tfp_{_WORD}{{20,}}|sgp_[A-Za-z0-9_]{{30,}}|ATATT3[A-Za-z0-9_\-=]{{30,}}|ATCTT3[A-Za-z0-9_\-=]{{30,}}",
    rf"AGE-SECRET-KEY-1[A-Z0-9]{{40,}}|LTAI[A-Za-z0-9]{{16,24}}|nvapi-{_WORD}{{30,}}",
    rf"r8_[A-Za-z0-9]{{30,}}|gsk_[A-Za-z0-9]{{30,}}|pplx-[A-Za-z0-9]{{30,}}|phc_[A-Za-z0-9]{{30,}}|CCIPAT_{_WORD}{{20,}}|fo1_{_WORD}{{30,}}|dp\.pt\.\w{{30,}}",
    rf"ABSK[A-Za-z0-9+/]{{60,}}={{0,2}}|HRKU-AA{_WORD}{{30,}}|cflt[A-Za-z0-9+/]{{56,}}|dbt[cu]_{_WORD}{{30,}}|AKCp[A-Za-z0-9]{{60,}}|cmVmd[A-Za-z0-9]{{55,}}",
    rf"pat[A-Za-z0-9]{{14}}\.[a-f0-9]{{64}}|pat-(?:na|eu)\d-[0-9a-f\-]{{36}}|sbp_[a-f0-9]{{40}}|pul-[a-f0-9]{{40}}|pn[ub]_[a-zA-Z0-9]{{30,}}|tskey-[a-z]{{2,10}}-{_WORD}{{16,}}",
    rf"CFPAT-{_WORD}{{40,}}|napi_[a-z0-9]{{40,}}|FlyV1 fm\d_[A-Za-z0-9+/=,_]{{40,}}|fm[12]_[A-Za-z0-9+/=_]{{40,}}",
    r"nf[bcopu]_[A-Za-z0-9]{30,}|xai-[A-Za-z0-9]{70,}|lb_[a-z2-7]{8}_[a-z2-7]{59}",
    rf"bkua_[a-z0-9]{{40}}|rdme_[a-z0-9]{{60,}}|duffel_(?:test|live)_{_WORD}{{40,}}|shippo_(?:live|test)_[a-f0-9]{{40}}|aio_[A-Za-z0-9]{{28}}|FLWSECK(?:_TEST)?-{_WORD}{{12,}}",
    rf"AKID[A-Za-z0-9]{{32}}|AQVN{_WORD}{{35,}}|EZ[AT]K[A-Za-z0-9]{{54}}|sl\.(?:u\.)?{_WORD}{{100,}}|1//0{_WORD}{{40,}}|mdb_sa_sk_{_WORD}{{30,}}|GOOG1E[A-Z0-9]{{50,60}}",
    rf"ATBB[A-Za-z0-9]{{28,}}|HRKU-[0-9a-f\-]{{36}}|phx_[A-Za-z0-9]{{30,}}|secret_[A-Za-z0-9]{{40,}}|xau_{_WORD}{{30,}}|pcsk_{_WORD}{{40,}}|ls__[a-f0-9]{{32}}",
    r"dp\.(?:st|ct|sa|scim|audit)\.(?:[a-z0-9_\-]{2,35}\.)?[A-Za-z0-9]{40,}|sntrys_[A-Za-z0-9+/=_]{40,}|access_token\$(?:production|sandbox)\$[a-z0-9]{16}\$[a-f0-9]{32}",
    rf"(?:live|test)_(?:[A-Za-z0-9]{{30}}(?!\w)|[a-f0-9]{{35}}{_END})|00D[A-Za-z0-9]{{12}}(?:[A-Za-z0-9]{{3}})?![A-Za-z0-9._]{{60,}}|[0-9a-f]{{32,36}}(?:FFFF)?NRAL|v[1-4]\.(?:local|public)\.{_WORD}{{40,}}(?:\.{_WORD}+)?",
    rf"EAA[A-Z]{_MIXED}{_WORD}{{50,}}|EAA[a-z0-9]{_WORD}{{90,}}|s\.(?=[A-Za-z]{{0,23}}\d)(?=[^A-Z]{{0,23}}[A-Z])(?=[^a-z]{{0,23}}[a-z])[A-Za-z0-9]{{24}}(?![\w.])",
    rf"(?:M[Tjz]|N[DTjz]|O[DT])[AEIMQUYcgk](?=[A-Za-z]{{0,23}}\d)[A-Za-z0-9]{{21,25}}\.{_WORD}{{6}}\.{_WORD}{{27,38}}",
    r"vercel_blob_rw_\w{30,}|(?:ST|TGT|PT)-\d{1,9}-[A-Za-z0-9]{20,}|vc[pkiar]_[A-Za-z0-9]{24,}|rpa_[A-Z0-9]{40,}\w{0,10}|tvly-[A-Za-z0-9\-]{20,}|fw_[A-Za-z0-9]{22,}|v1\.0-[0-9a-f]{24}-[0-9a-f]{100,}|cio_[A-Za-z0-9]{30,}",
    r"[A-Za-z0-9_~.]{3}\dQ~[A-Za-z0-9_~.\-]{31,34}|dt0[a-z]\d\d\.[A-Z0-9]{20,}\.[A-Z0-9]{40,}|ops_eyJ[A-Za-z0-9+/=]{40,}",
    rf"sha256~{_WORD}{{43}}(?!\w)|ico-{_MIXED}[A-Za-z0-9]{{32}}{_END}|(?i:clojars)_[A-Za-z0-9]{{40,}}|API-(?=[A-Z]{{0,25}}\d)[A-Z0-9]{{26}}{_END}|tk-(?:us|eu)-{_MIXED}{_WORD}{{48}}",
    r"A3-[A-Z0-9]{6}-(?:[A-Z0-9]{11}|[A-Z0-9]{6}-[A-Z0-9]{5})(?:-[A-Z0-9]{5}){3}|dnkey-[a-z0-9]{26}-[a-z0-9]{52}|SWMTKN-1-[a-z0-9\-]{70,}",
    rf"access-(?:sandbox|development|production)-{_UUID}|xa[ap]t-{_UUID}|amzn\.mws\.{_UUID}|amzn1\.oa2-cs\.v1\.[0-9a-f]{{60,}}|Atz[ar]\|[A-Za-z0-9_\-|]{{60,}}|(?:sdk-|waka_){_UUID}",
    rf"s-s4t2(?:ud|af)-[a-f0-9]{{64}}|[ps]at\.{_WORD}{{22}}\.[A-Za-z0-9]{{24}}\.[A-Za-z0-9]{{20}}|eyJrIjoi[A-Za-z0-9]{{60,}}={{0,3}}|4b1d{_MIXED}[A-Za-z0-9]{{38}}{_END}",
    rf"p8e-{_WORD}{{32}}(?![\w\-])|GR1348941{_WORD}{{20,}}|sq[apu]_[a-f0-9]{{40}}|fio-u-{_WORD}{{40,}}|y0_{_MIXED}{_WORD}{{50,}}|csk-[a-z0-9]{{40,}}|rnd_{_RANDOM}[A-Za-z0-9]{{28,}}",
    rf"t1\.{_WORD}{{8,200}}={{0,2}}\.{_MIXED}{_WORD}{{60,}}={{0,2}}|sk_[a-f0-9]{{48}}{_END}|xsmtpsib-[a-f0-9]{{64}}-[A-Za-z0-9]{{16}}|(?:[pst]k|p)\.eyJ{_WORD}{{20,}}\.{_WORD}{{20,}}",
    rf"dckr_oat_{_MIXED}{_WORD}{{20,}}|gta_[a-f0-9]{{40}}|zpka_(?=[A-Za-z_]{{0,30}}\d)[A-Za-z0-9_]{{30,}}|sb_secret_{_MIXED}{_WORD}{{20,}}|bkaj_[a-z0-9]{{40}}|hc[a-z](?:ik|lk|mk)_[a-z0-9]{{32,}}|mzp_[a-f0-9]{{64}}",
    rf"STS\.{_MIXED}(?=[A-Za-z]{{0,40}}\d){_NO_CAMEL_CASE}[A-Za-z0-9]{{20,60}}(?![\w.])|d(?:ose|kea)[a-f0-9]{{32}}{_END}|AVNS_{_MIXED}{_WORD}{{16,}}|CCDB1_{_MIXED}{_WORD}{{40,}}",
    rf"wandb_v1_{_MIXED}\w{{50,}}|pk_\d{{6,10}}_[A-Z0-9]{{32}}{_END}|NF-{_MIXED}[A-Za-z0-9]{{32}}{_END}|sm_aat_[A-Za-z0-9]{{16}}|da2-[a-z0-9]{{26}}{_END}|(?:SCW(?=[A-Z]{{0,16}}\d)[A-Z0-9]|DO00)[A-Z0-9]{{16}}{_END}",
    rf"re_{_RANDOM}[A-Za-z0-9]{{8}}_[A-Za-z0-9]{{24}}{_END}|cio{_MORE_RANDOM}[A-Za-z0-9]{{32}}{_END}",
    rf"SSWS\s{{1,3}}00{_WORD}{{30,}}|NR(?:II|IQ|RA|SP|JS|BR)-{_WORD}{{18,}}|AAAAAAAAAAAAAAAAAAAAA{{0,2}}(?!A){_RANDOM}[A-Za-z0-9%]{{60,120}}(?![A-Za-z0-9%+/=])",
    rf"fc-[0-9a-f]{{32}}{_END}|e2b_[0-9a-f]{{40}}|jina_[a-f0-9]{{32}}{_WORD}{{20,}}|tgp_v1_{_WORD}{{40,}}|ALTAK-[A-Za-z0-9]{{20,}}/[a-f0-9]{{40}}|snyk_(?:uat|sat|pat)\.{_WORD}{{6,}}\.{_WORD}{{20,}}",
    rf"(?:(?:ddp|ddo|ctp|cti|ovsxp|vtwn|ddapp|lin_oauth|tgpak|tgpat|pina|ion)_|dkuaps-){_MORE_RANDOM}[A-Za-z0-9]{{30,}}{_END}",
    r"[A-Za-z0-9+/]{76}(?:APIM|ACDb|\+(?:ABa|AMC|ASt))[A-Za-z0-9+/]{5}[AQgw]==|[A-Za-z0-9+/]{33}(?:AIoT|AzCa|\+(?:ASb|AEh|ARm))[A-P][A-Za-z0-9+/]{5}=",
    r"[A-Za-z0-9]{52}AzSe[A-D][A-Za-z0-9]{5}|[A-Za-z0-9+/_\-]{44}AzFu[A-P][A-Za-z0-9+/_\-]{5}[AQgw]==?|[A-Za-z0-9+/]{42}\+ACR[A-D][A-Za-z0-9+/]{5}",
    rf"[A-Za-z0-9]{{52}}JQQJ9[9DH][A-Za-z0-9]{{24,32}}|{_WORD}{{11}}:APA91b{_WORD}{{60,}}|[A-Za-z0-9]{{6}}_[A-Za-z0-9]{{29}}_mmk{_END}|A[A-Za-z0-9_+/]{{3}}(?:ASQg|AAIncD)[A-Za-z0-9+/_=\-]{{40,}}",
    r"(?:IQoJb3JpZ2luX2Vj|F[wQ]oGZXIvYXdzE|AQoDYXdzE|FQoDYXdzE)[A-Za-z0-9+/]{80,}={0,2}",
    rf"(?:eyJ0eXBlIjogInNlcnZpY2VfYWNjb3VudC|eyJ0eXBlIjoic2VydmljZV9hY2NvdW50|ewogICJ0eXBlIjogInNlcnZpY2VfYWNjb3VudC){_BASE64}",
    rf"MII[A-Za-z0-9+/]{{2}}[AQgw]IBA(?:DANBgkqhkiG9w0BAQEFAASC|AKCA[QgwY]EA){_BASE64}",
    rf"M(?:HcCAQEEI|IGkAgEBBD[A-D]|IHcAgEBBEI|I[GH][A-Za-z0-9+/]M[EF][A-Za-z0-9+/]GCSqGSIb3DQEFDT){_BASE64}",
    rf"MI[GH][A-Za-z0-9+/]AgEAMB[AM]GByqGSM49AgEG{_BASE64}|MII[A-Za-z0-9+/]{{3}}B[A-Za-z0-9+/]BgkqhkiG9w0BBQ0w{_BASE64}",
)
"""Patterns of whole tokens; also of AWS' session tokens, Google's service accounts and private keys (PKCS #1 and #8, SEC 1) in base64.

A token begins at the beginning of a word.
"""
SECOND_PARTS = (
    rf"_(?:api|apikey|key|secret|pat|oat|sat|uat|token|tkn|live|prod|test|oauth|sk)_(?P<secret>{_MORE_RANDOM}[A-Za-z0-9]{{20,}}{_END})",
    rf"_(?P<secret>[1-7][A-Za-z0-9]{{20}}{_END})(?<=[1-3][A-Za-z0-9]{{26}}_[A-Za-z0-9]{{21}})",
)
"""What follows the issuer and the kind of a token, as in `polar_oat_`, or the number of the token."""
HASHES = (
    r"\$2[abxy]\$\d\d\$[./A-Za-z0-9]{53}|\$(?:apr1|[1567y]|sha1|argon2\w{1,2}|scrypt)\$[^\s:\"'\\]{20,300}",
    r"(?:pbkdf2|bcrypt|scrypt|argon2)[_\-]?\w{0,12}\$\d{1,9}\$[^\s:\"'$]{1,100}\$[A-Za-z0-9+/=.]{20,200}|SCRAM-SHA-\d{1,3}\$\d{1,9}:[A-Za-z0-9+/=]{8,200}\$[A-Za-z0-9+/=:]{20,400}",
    r"\{(?:S?SHA\d{0,3}|S?MD5|CRYPT)\}[A-Za-z0-9+/=$./]{20,200}|md5[0-9a-f]{32}(?![0-9a-f])",
)
"""Password hashes of databases, web servers and directories: their holder can try guesses, or even log in with them."""
WEBHOOKS = (
    Uncompiled(
        r"(?<![\w.\-])(?:hooks\.slack(?:-gov)?\.com(?::\d+)?|(?:\w{1,20}\.)?discord(?:app)?\.com(?::\d+)?/api/webhooks"
        r"|[\w\-]{1,63}\.webhook\.office\.com(?::\d+)?|hooks\.zapier\.com(?::\d+)?|maker\.ifttt\.com(?::\d+)?/trigger"
        r"|hook\.\w{1,10}\.make\.com(?::\d+)?|outlook\.office(?:365)?\.com(?::\d+)?/webhook|hc-ping\.com(?::\d+)?"
        r"|events\.pagerduty\.com(?::\d+)?/integration|open\.(?:feishu\.cn|larksuite\.com)(?::\d+)?/open-apis/bot/v2/hook)/(?P<secret>[^\s\"'<>\\]+)"
    ),
    Uncompiled(r"(?<=/services/)(?P<secret>T[A-Z0-9]{8,12}/B[A-Z0-9]{8,12}/[A-Za-z0-9]{24})(?![A-Za-z0-9])"),
    Uncompiled(r"\bqyapi\.weixin\.qq\.com/cgi-bin/webhook/send\?key=(?P<secret>[^\s\"'&]+)"),
    Uncompiled(r"(?<=/hooks/)(?P<secret>(?=[a-z]{0,25}\d)[a-z0-9]{26})(?![\w\-])"),
    Uncompiled(r"\boraclecloud\.com/p/(?P<secret>[A-Za-z0-9_\-]{40,})/n/"),
    Uncompiled(r"\bapi\.telegram\.org/bot(?P<secret>\d{8,10}:[A-Za-z0-9_\-]{30,})"),
    Uncompiled(r"(?<=/bot)(?P<secret>\d{8,10}:AA[A-Za-z0-9_\-]{30,})"),
    Uncompiled(r"(?:(?<![A-Za-z0-9_])|(?<=\\[nrt]))(?P<secret>\d{8,10}:AA[A-Za-z0-9_\-]{30,})"),
)
"""Addresses that are secrets themselves: anyone who knows them may post. Each has the secret in the group `secret`."""
