"""SQL conditions that limit lists of nodes to some namespaces."""

from collections.abc import Collection

from lineage_bridge.store.chunks import marks


class NamespaceCondition:
    """An SQL condition that a namespace is one of the given ones; always true if they are None."""

    def __init__(self, namespaces: Collection[str] | None = None) -> None:
        self.namespaces = None if namespaces is None else sorted(namespaces)

    def holds(self, namespace: str) -> bool:
        """Whether this namespace satisfies the condition."""
        return self.namespaces is None or namespace in self.namespaces

    def by_position(self, column: str) -> str:
        """The condition on a column, with placeholders by position; `values` has their values."""
        if self.namespaces is None:
            return "1 = 1"
        return f"{column} IN ({marks(self.namespaces)})" if self.namespaces else "1 = 0"

    @property
    def values(self) -> list[str]:
        """The values of the placeholders in `by_position`."""
        return self.namespaces or []

    def by_name(self, column: str) -> str:
        """The condition on a column, with placeholders by name; `named` has their values."""
        if self.namespaces is None:
            return "1 = 1"
        return f"{column} IN ({', '.join(f':{name}' for name in self.named)})" if self.namespaces else "1 = 0"

    @property
    def named(self) -> dict[str, str]:
        """The values of the placeholders in `by_name`."""
        return {f"within{number}": namespace for number, namespace in enumerate(self.namespaces or ())}
