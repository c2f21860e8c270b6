"""What is known about the values of an open object or array, while a body is read."""


class Container:
    """An open object or array, and what is known about the values in it.

    `secret`: all of them are secrets. `columns`: its keys are column names. `tags`: they are tags, which name no settings. `named`: one
    member says that the member `value` is a secret. `option`: the text before is a command's option that takes a secret. `values`: where
    the scalars in `value` are, and the elements of its long arrays; `sink`: those of an enclosing object whose `value` contains this one.
    `program`, `before`: of an array, the first text and the last one. `plain_key`: the key names no secret. `start`: where its bracket
    is. `count`: how many values came before. `companion`: a member names the secret in another one. `secrets_at`: of an array, which
    elements are names of secrets; `columns_of`: the same of an array in this object, and its length.
    `weak`: those of the values are secrets that look like ones; `weak_name`: what a member says that `value` is.
    """

    __slots__ = (
        "before",
        "columns",
        "columns_of",
        "companion",
        "count",
        "is_object",
        "key",
        "named",
        "option",
        "plain_key",
        "program",
        "secret",
        "secrets_at",
        "sink",
        "start",
        "tags",
        "values",
        "weak",
        "weak_name",
    )

    def __init__(
        self,
        *,
        is_object: bool,
        secret: bool = False,
        columns: bool = False,
        tags: bool = False,
        sink: "list[tuple[int, int]] | None" = None,
        start: int = 0,
    ) -> None:
        self.is_object, self.secret, self.columns, self.tags, self.sink = is_object, secret, columns, tags, sink
        self.key: str | None = None
        self.named = self.option = self.plain_key = False
        self.program = self.before = ""
        self.values: list[tuple[int, int]] = []
        self.start, self.count, self.companion = start, 0, False
        self.secrets_at: tuple[int, ...] = ()
        self.weak, self.weak_name = False, ""
        self.columns_of: tuple[tuple[int, ...], int] | None = None
