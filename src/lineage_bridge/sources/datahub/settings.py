"""The settings of a source for DataHub."""

from fnmatch import fnmatchcase
from typing import Any

from pydantic import Field, PrivateAttr, model_validator

from lineage_bridge.sources.common.datahub.urns import DataHubNames, Environment
from lineage_bridge.sources.common.settings import HttpSettings


class DataHubSourceSettings(HttpSettings):
    """DataHub's metadata service. `platforms` and `platform_instances` mean the same as for a target of this kind."""

    interval_s: float = Field(default=900.0, ge=1, le=86_400, description="seconds between polls")
    timeout_s: float = Field(default=30.0, gt=0, le=600, description="timeout of one call in seconds")
    env: Environment = Field(default="PROD", description="environment of datasets and jobs there; others are left out")
    namespaces: tuple[str, ...] = Field(
        default=(), description="namespaces whose datasets are there (kafka://broker:9092), as DataHub has no addresses"
    )
    platforms: dict[str, str] = Field(default={}, description="platforms of datasets by namespace, instead of the scheme of the namespace")
    platform_instances: dict[str, str] = Field(
        default={}, description="platform instances of datasets by namespace; they precede the datasets' names"
    )
    datasets: tuple[str, ...] = Field(default=("*",), description="patterns of datasets to observe, as platform/name (snowflake/sales.*)")
    jobs: bool = Field(default=True, description="observe jobs, with their inputs and outputs, too")
    _names: DataHubNames = PrivateAttr()

    @model_validator(mode="after")
    def _one_namespace_for_each_name(self) -> Any:  # noqa: ANN401  # pydantic: the model itself
        self._names = DataHubNames(self.env, self.platforms, self.platform_instances, self.namespaces)
        for first, other in self._names.ambiguous:
            raise ValueError(f"datasets of {first} and {other} have the same names in DataHub: give one of them in platform_instances")
        return self

    @property
    def names(self) -> DataHubNames:
        """The names of datasets in this DataHub."""
        return self._names

    def selects(self, urn: str) -> bool:
        """Whether a dataset is observed."""
        found = self._names.parts(urn)
        return found is not None and any(fnmatchcase("/".join(found), pattern) for pattern in self.datasets)
