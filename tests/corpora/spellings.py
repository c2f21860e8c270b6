"""Addresses that may not be called, in all spellings that a filter might not know."""

METADATA = (
    "169.254.169.254",
    "169.254.170.2",
    "::ffff:169.254.169.254",
    "64:ff9b::a9fe:a9fe",
    "64:ff9b:1::a9fe:a9fe",
    "2002:a9fe:a9fe::",
    "2001:0:102:304::5601:5601",
    "::a9fe:a9fe",
    "fe80::1",
    "fe80::1%eth0",
    "fd00:ec2::254",
    "100.100.100.200",
    "168.63.129.16",
    "0.0.0.0",  # nothing listens there
    "::",
    "224.0.0.1",
)
SPELT = (
    "169.254.169.254",
    "2852039166",
    "0xA9FEA9FE",
    "169.254.43518",
    "[::ffff:a9fe:a9fe]",
    "[fe80::1]",
    "0",
    "0xa9.0xfe.0xa9.0xfe",
    "0251.0376.0251.0376",
    "0251.254.169.254",
    "169.16689662",
    "169.254.169.254.",
    "[::169.254.169.254]",
    "[64:ff9b:1::169.254.169.254]",
    "[0:0:0:0:0:ffff:a9fe:a9fe]",
    "[::]",
    "\u2460\u2465\u2468.\u2461\u2464\u2463.\u2460\u2465\u2468.\u2461\u2464\u2463",
    "169\u3002254\uff0e169\uff61254",
    "169%2E254%2E169%2E254",
)
"""Spellings of such an address that collections of ways round filters list (OWASP, HackTricks, EdOverflow)."""
