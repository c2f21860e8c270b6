"""Reads events from blobs in Azure Blob Storage."""

from collections.abc import Sequence
from typing import Any

from pyarrow import fs
from pydantic import Field, model_validator

from lineage_bridge.inputs.files.bucket import ArrowStore, authority_of, check_machine_credentials, scheme_of, server_of
from lineage_bridge.inputs.files.files_input import FilesInput
from lineage_bridge.inputs.files.settings import BucketSettings
from lineage_bridge.inputs.input import InputKind
from lineage_bridge.sources.common.settings import Secret, Url, reveal


class AzureSettings(BucketSettings):
    """Settings of an input: a container of a storage account. Without a key, token or client, Azure's SDK looks for credentials itself: in
    environment variables, then a managed identity.
    """

    account: str = Field(pattern=r"^[a-z0-9]{3,24}$", description="name of the storage account")
    container: str = Field(pattern=r"^[a-z0-9$][a-z0-9-]{1,61}[a-z0-9]$", description="name of the container")
    account_key: Secret | None = Field(default=None, description="key of the account, as a reference")
    sas_token: Secret | None = Field(default=None, description="shared access signature, as a reference")
    tenant_id: str = Field(default="", description="tenant of the client")
    client_id: str = Field(default="", description="client id of an application, or of a managed identity")
    client_secret: Secret | None = Field(default=None, description="secret of the application, as a reference")
    endpoint_url: Url | None = Field(default=None, description="address of another server with the same API; empty: Azure's")

    @model_validator(mode="after")
    def _one_way_in(self) -> Any:  # noqa: ANN401  # pydantic: the model itself
        if sum(map(bool, (self.account_key, self.sas_token, self.client_id))) > 1:
            raise ValueError("set one of `account_key`, `sas_token` and `client_id`")
        if self.client_secret and not (self.client_id and self.tenant_id):
            raise ValueError("`client_secret` requires `client_id` and `tenant_id`")
        return self


class AzureStore(ArrowStore):
    """A folder in a container of Azure Blob Storage."""

    def __init__(self, settings: AzureSettings) -> None:
        super().__init__(settings, settings.container, "azure")
        self._settings = settings

    @property
    def servers(self) -> Sequence[tuple[str, int]]:
        """The hosts and ports to which the client connects: those of the endpoint in the settings, else of the storage account."""
        settings = self._settings
        if settings.endpoint_url:
            return [server_of(settings.endpoint_url)]
        return [(f"{settings.account}.{kind}.core.windows.net", 443) for kind in ("blob", "dfs")]

    def connect(self) -> Any:  # noqa: ANN401  # pyarrow has no types
        """Open pyarrow's file system for the account."""
        settings = self._settings
        if not (settings.account_key or settings.sas_token or settings.client_secret):
            check_machine_credentials(settings, "azure", "account_key, sas_token or client_secret")
        secrets = {"account_key": settings.account_key, "sas_token": settings.sas_token, "client_secret": settings.client_secret}
        options = {name: reveal(reference) for name, reference in secrets.items() if reference}
        options |= {name: value for name in ("tenant_id", "client_id") if (value := getattr(settings, name))}
        if settings.endpoint_url:
            authority, scheme = authority_of(settings.endpoint_url), scheme_of(settings.endpoint_url)
            options |= {"blob_storage_authority": authority, "dfs_storage_authority": authority}
            options |= {"blob_storage_scheme": scheme, "dfs_storage_scheme": scheme}
        return fs.AzureFileSystem(account_name=settings.account, **options)


class AzureInput(FilesInput[AzureSettings]):
    """Reads a container of Azure Blob Storage."""

    def store(self) -> AzureStore:
        """Open the container."""
        return AzureStore(self.settings)


KIND = InputKind(AzureSettings, AzureInput, "events in blobs of Azure Blob Storage", "azure")
