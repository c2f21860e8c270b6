"""Addresses that are secrets themselves: anyone who knows them may post."""

import re

WEBHOOKS = (
    re.compile(
        r"(?<![\w.\-])(?:hooks\.slack(?:-gov)?\.com(?::\d+)?|(?:\w{1,20}\.)?discord(?:app)?\.com(?::\d+)?/api/webhooks"
        r"|[\w\-]{1,63}\.webhook\.office\.com(?::\d+)?|hooks\.zapier\.com(?::\d+)?|maker\.ifttt\.com(?::\d+)?/trigger"
        r"|hook\.\w{1,10}\.make\.com(?::\d+)?|outlook\.office(?:365)?\.com(?::\d+)?/webhook|hc-ping\.com(?::\d+)?"
        r"|events\.pagerduty\.com(?::\d+)?/integration|open\.(?:feishu\.cn|larksuite\.com)(?::\d+)?/open-apis/bot/v2/hook)/(?P<secret>[^\s\"'<>\\]+)"
    ),
    re.compile(r"(?<=/services/)(?P<secret>T[A-Z0-9]{8,12}/B[A-Z0-9]{8,12}/[A-Za-z0-9]{24})(?![A-Za-z0-9])"),
    re.compile(r"\bqyapi\.weixin\.qq\.com/cgi-bin/webhook/send\?key=(?P<secret>[^\s\"'&]+)"),
    re.compile(r"(?<=/hooks/)(?P<secret>(?=[a-z]{0,25}\d)[a-z0-9]{26})(?![\w\-])"),
    re.compile(r"\boraclecloud\.com/p/(?P<secret>[A-Za-z0-9_\-]{40,})/n/"),
    re.compile(r"\bapi\.telegram\.org/bot(?P<secret>\d{8,10}:[A-Za-z0-9_\-]{30,})"),
    re.compile(r"(?<=/bot)(?P<secret>\d{8,10}:AA[A-Za-z0-9_\-]{30,})"),
    re.compile(r"(?:(?<![A-Za-z0-9_])|(?<=\\[nrt]))(?P<secret>\d{8,10}:AA[A-Za-z0-9_\-]{30,})"),
)
"""Each pattern has the secret in the group `secret`."""
