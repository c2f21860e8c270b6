"""Fetches the Java archives that tests and the benchmarks use beside Spark's own, pinned by checksum.

`python -m tools.jars GROUP...` fetches groups into the user's cache.
"""

import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from lineage_bridge.errors import JarError
from lineage_bridge.pipeline.streams.jars import CENTRAL, KAFKA, Ivy, Jar, default_cache, fetch_jars, ivy_for

# A group lists every archive it needs.
GROUPS: Mapping[str, tuple[Jar, ...]] = {
    "agent": (
        Jar(
            "io.openlineage",
            "openlineage-spark_2.13",
            "1.53.0",
            "5d84b0ae7e72909b5aae7ed87df878bf06b28d9ac3005765c3529d0a66dbae6f",
        ),
    ),
    "iceberg": (
        Jar(
            "org.apache.iceberg",
            "iceberg-spark-runtime-4.1_2.13",
            "1.11.0",
            "d6ea6c5d099288daeb7d5a92061bd3d7d8f296492632b42378e5f2f0e3066242",
        ),
    ),
    "postgresql": (
        Jar(
            "org.postgresql",
            "postgresql",
            "42.7.7",
            "157963d60ae66d607e09466e8c0cdf8087e9cb20d0159899ffca96bca2528460",
        ),
    ),
    "kafka": KAFKA,
    "delta": (
        Jar(
            "io.delta",
            "delta-spark_4.1_2.13",
            "4.4.0",
            "75a9400986853c061f5109f012547de2545a5759e5e752e5ef633dabe16a4f10",
        ),
        Jar(
            "io.delta",
            "delta-storage",
            "4.4.0",
            "c46735481fa8e326b0957be02b4420cbcab4b325bb08009b7f2045a95133f1cc",
        ),
        Jar(
            "io.delta",
            "delta-kernel-api",
            "4.4.0",
            "ee9b5a14ac3b7efdff4d61a58478fe8eb0e5a3fbca43889dca7290795fe79a11",
        ),
        Jar(
            "io.delta",
            "delta-kernel-defaults",
            "4.4.0",
            "225c975199e4718b38ee5b7e6da7f19e9585024262b2cec2656b32151a856b0b",
        ),
        Jar(
            "io.delta",
            "delta-kernel-unitycatalog",
            "4.4.0",
            "cea22dfb4ac562b3cd27bf652697750e8336009d73fb06631363aaaad5345ffa",
        ),
        Jar(
            "io.unitycatalog",
            "unitycatalog-client",
            "0.6.0",
            "48257499a86b801a3e2372cec55ac226ca1c1c7eabe5c118e7302f29a1fdbc19",
        ),
        Jar(
            "io.unitycatalog",
            "unitycatalog-hadoop",
            "0.6.0",
            "c47b63c961c87102b9e1d63809a0915ba4c86b7652f57c8d39ca3a05b441a150",
        ),
    ),
}


def fetch(group: str, cache_dir: Path, ivy: Ivy = CENTRAL) -> list[Path]:
    """The files of the archives in one of `GROUPS`. Raises JarError as `fetch_jars`, and for an unknown group."""
    if group not in GROUPS:
        raise JarError(f"there is no group of archives {group!r}", f"choose from {', '.join(sorted(GROUPS))}")
    return fetch_jars(GROUPS[group], cache_dir, ivy)


def main(arguments: Sequence[str], environ: Mapping[str, str]) -> int:
    """Fetch the named groups into the user's cache and print their paths. The exit code; 1 after an error."""
    try:
        ivy = ivy_for(environ)
        paths = [path for group in arguments for path in fetch(group, default_cache(), ivy)]
    except JarError as error:
        sys.stderr.write(f"{error}\n{error.hint}\n")
        return 1
    sys.stdout.writelines(f"{path}\n" for path in paths)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], os.environ))
