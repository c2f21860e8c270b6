"""The settings of the target DataHub."""

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, model_validator

from lineage_bridge.catalogs.settings import HttpTargetSettings, Renames
from lineage_bridge.sources.common.datahub.urns import Environment, encoded


def _part(text: str) -> str:
    if not text or encoded(text) != text or not text.isprintable() or " " in text:
        raise ValueError("use a name without spaces, commas and parentheses")
    return text


class DataHubSettings(HttpTargetSettings):
    """Settings of a target: the address of DataHub's metadata service, and the names that entities get there."""

    form: Literal["aspects", "events"] = Field(
        default="aspects",
        description="aspects: a DataJob for each job, which is read back, changed and deleted; "
        "events: an OpenLineage event for each state of a job, to DataHub's OpenLineage endpoint",
    )
    orchestrator: Annotated[str, AfterValidator(_part)] = Field(
        default="openlineage", max_length=50, description="orchestrator of jobs there; nobody else may write jobs of this orchestrator"
    )
    env: Environment = Field(default="PROD", description="environment of jobs and datasets there; of events, DataHub's own settings say it")
    platforms: Renames = Field(default={}, description="platforms of datasets by namespace, instead of the scheme of the namespace")
    platform_instances: Renames = Field(
        default={}, description="platform instances of datasets by namespace; they precede the datasets' names"
    )

    @model_validator(mode="after")
    def _form_has_these(self) -> Any:  # noqa: ANN401  # pydantic: the model itself
        if self.form == "events" and "env" in self.model_fields_set:
            raise ValueError("leave out env; with form = events, DataHub's own settings say which environment datasets are in")
        if self.form == "events" and self.orchestrator != self.orchestrator.lower():
            raise ValueError("use an orchestrator in lower case; with form = events, DataHub writes it so")
        return self

    @property
    def destination(self) -> str:
        """The text that identifies the target: the address, and the parts that all URNs have in common, or the form of events."""
        return f"{self.url} {self.orchestrator} {self.env if self.form == 'aspects' else self.form}"
