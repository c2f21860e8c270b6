"""The responses about pushes, in the formats of the LineageBridge prototype."""

from msgspec import Struct


class PushProviderItem(Struct, frozen=True):
    """A catalog that can be pushed to. `available`: this release has its kind of target. `installed`: its `extra` is installed.

    `configured`: it has targets, which are `targets`. `needs` are the settings that a target must have, `options` those that the body of a
    push may have.
    """

    provider: str
    kind: str
    available: bool
    installed: bool
    configured: bool
    targets: list[str]
    extra: str
    needs: list[str]
    options: list[str]


class PushProviders(Struct, frozen=True):
    """The names of the catalogs that can be pushed to, and what each needs."""

    providers: list[str]
    details: list[PushProviderItem]


class CatalogItem(Struct, frozen=True):
    """A catalog, the type of its tables among the nodes of the graph, and their system."""

    catalog_type: str
    node_type: str
    system_type: str
