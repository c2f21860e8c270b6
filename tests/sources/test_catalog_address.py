"""The address by which a catalog is told apart from others of its kind has one spelling."""

import pytest

from lineage_bridge.sources.common.catalog.address import catalog_address


@pytest.mark.parametrize(
    ("written", "address"),
    [
        ("https://DataHub.example:443/gms/", "https://datahub.example/gms"),
        ("http://datahub.example:80", "http://datahub.example"),
        ("http://datahub.example:8080/", "http://datahub.example:8080"),
        ("http://[::1]:8585/api", "http://[::1]:8585/api"),
        ("https://Lineage.example projects/Sales/locations/eu", "https://lineage.example projects/Sales/locations/eu"),
        ("arn:aws:glue:eu-west-1:123456789012", "arn:aws:glue:eu-west-1:123456789012"),
    ],
)
def test_an_address_has_one_spelling(written: str, address: str) -> None:
    assert catalog_address(written) == address
    assert catalog_address(address) == address


@pytest.mark.parametrize("address", ["https://host:99999", "https://host:x/a", "https://[host"])
def test_an_address_that_no_url_has_is_returned_as_it_is(address: str) -> None:
    assert catalog_address(address) == address
