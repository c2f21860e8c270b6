"""Words that the project no longer uses in their old meaning, and class names that two modules may share.

`docs/glossary.md` has the words to use.
"""

import ast
import re
from collections.abc import Iterator


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


BANNED_NAMES = _words(
    """
    alias_word Around Book book Bookkeeper Carried carried claim_said Control control_db Current Delivery desk dirty Estate estate
    EventPlace file_places FilePlace Firsts forming Frame FrameError FrameKind FrameReader Gate gate greet greeting Growth Heard
    heard hurry know Knowledge Known knows lacks Meaning meet next_place nothing one Outgoing Parcel parcel parcels PartitionPlace
    Presence present_day Presents Pulse pulse ReadPlace Remade Remark remark remarks respaced respelt Said said say
    Saying saying says source_book source_desk SourceBook SourceDesk spoken sprouted Standing Stated stint Stir story Stretch
    stretch task_book TaskBook TaskDesk _tell tell_logs Teller Telling telling tells tend Told _told told Turns unsearched
    unstitched upset Wanted wanted Word World world
    """
)
"""Identifiers, wherever they are: of classes, functions, parameters, members and variables."""

RESERVED_NAMES = {
    "place": ("visibility/",),
    "places": ("api/schemas/", "visibility/"),
    "span": ("api/", "catalogs/", "inputs/", "openlineage/", "pipeline/", "sources/", "tracing.py"),
    "spans": ("openlineage/", "tracing.py"),
    "standing": ("api/", "model/", "visibility/"),
}
"""Identifiers with one meaning, and the parts of the package that may use them.

A place is a node beyond the border, a span belongs to a trace (in `openlineage`, to the match of a pattern), `standing` is a member of the
answer about aliases, and `places` one of the answer about damage.
"""

BANNED_FUNCTIONS = _words("of tell")
"""Names of functions only: `of` is also a parameter, and `tell` a method of files."""

API_MEMBERS = _words("told")
"""Members of answers that clients read: the values in `api/schemas` keep them."""

BANNED_MODULES = _words(
    """
    asking book bookkeeper carried connectread control delivery desk estate flinkanswers flinkread flinktold frame gate greeting
    growth heard knowledge known meaning orders parcel part place places presence presents pulse remade remark said saying span
    spans spoken standing stated stir story stretch tableflowtell teller telling told turns wanted word world
    """
)
"""Modules and packages."""

BANNED_TABLES = _words(
    """
    alias_word claim claim_said content control dirty meaning present present_day remark respaced respelt said spoken unsearched
    unstitched
    """
)
BANNED_COLUMNS = _words(
    """
    about claim content dirty forming meaning part place present reached remark respaced respelt said span spoken sprouted
    statement subject
    """
)

BANNED_PHRASES = (
    "are none that",
    "answers any more",
    "been told",
    "by nobody",
    "by the word of",
    "is none of its",
    "is none that",
    "need not be told",
    "no more than is",
    "one's own",
    "told as",
    "told later",
    "telling of",
    "tells any more",
)
"""Parts of sentences, in docstrings and messages."""

SAME_IDEA = _words(
    """
    Annotation AuditRepository Column Credential Dataset FollowRepository InputRepository InputService Job PublicationLedger Run
    SourceRepository SourceService TargetRepository TargetService TaskRepository TaskService _Lag
    """
)
"""Class names that several modules may use: a port and its implementation, a value and its form in the API or the demo, or local terms."""

_PHRASES = re.compile(r"\b(?:" + "|".join(BANNED_PHRASES) + r")\b", re.IGNORECASE)


_NAMES = re.compile(r"\b(?:" + "|".join(sorted(BANNED_NAMES)) + r")\b")


def may_have_banned_names(source: str) -> bool:
    """Whether a banned name occurs in the text of a module at all, be it in a comment: most need not be parsed."""
    return _NAMES.search(source) is not None


def banned_names(tree: ast.Module, banned: frozenset[str] = BANNED_NAMES) -> list[str]:
    """The banned identifiers that a module defines, imports or uses, sorted."""
    return sorted(banned & set(_names(tree)))


def misused_names(tree: ast.Module, path: str) -> list[str]:
    """The reserved identifiers in the module at `path` (below the package) that belong to other parts of the package, sorted."""
    found = set(_names(tree))
    return sorted(name for name, parts in RESERVED_NAMES.items() if name in found and not path.startswith(parts))


def banned_functions(tree: ast.Module) -> list[str]:
    """The names that no function may have, of those that a module defines, sorted."""
    defined = {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)}
    return sorted(BANNED_FUNCTIONS & defined)


def _names(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            yield node.id
        elif isinstance(node, ast.Attribute):
            yield node.attr
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.arg | ast.keyword):
            yield str(node.arg)
        elif isinstance(node, ast.alias):
            yield from node.name.split(".")
            yield str(node.asname)


def banned_phrases(tree: ast.Module) -> list[str]:
    """The banned phrases in the strings of a module, in lower case."""
    texts = (node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str))
    return [found.lower() for text in texts for found in _PHRASES.findall(" ".join(text.split()))]
