"""Addresses that are secrets themselves: whoever knows them may post."""

import re

WEBHOOKS = (
    re.compile(
        r"(?<![\w.\-])(?:hooks\.slack(?:-gov)?\.com|(?:\w{1,20}\.)?discord(?:app)?\.com/api/webhooks|[\w\-]{1,63}\.webhook\.office\.com"
        r"|hooks\.zapier\.com|maker\.ifttt\.com/trigger|hook\.\w{1,10}\.make\.com)/(?P<secret>[^\s\"'<>\\]+)"
    ),
    re.compile(r"(?<=/bot)(?P<secret>\d{8,10}:AA[A-Za-z0-9_\-]{30,})"),
    re.compile(r"(?<![A-Za-z0-9_])(?P<secret>\d{8,10}:AA[A-Za-z0-9_\-]{30,})"),
)
"""Each has the secret in the group `secret`."""
