"""Determines the UUID of a run, even if the producer sends an id of another kind."""

from uuid import UUID, uuid5

_RUN_NAMESPACE = UUID("5c0e4f0e-3a0b-5d0c-9f5e-6f1d6a1e2b47")


def run_uuid(job_namespace: str, job_name: str, raw_id: str) -> bytes:
    """The 16 bytes of a run's UUID. If `raw_id` is not a UUID, one is derived from the job and `raw_id`, always the same."""
    parsed = parse_uuid(raw_id)
    if parsed is not None:
        return parsed
    name = f"{len(job_namespace)}:{job_namespace}{len(job_name)}:{job_name}{raw_id}"
    return uuid5(_RUN_NAMESPACE, name).bytes


def parse_uuid(text: str) -> bytes | None:
    """The 16 bytes of a UUID in 36 or, without dashes, 32 hexadecimal digits of any case; None for every other text."""
    digits = text
    if len(text) == 36 and text[8:24:5] == "----":
        digits = text.replace("-", "")
    if len(digits) != 32:
        return None
    try:
        value = bytes.fromhex(digits)
    except ValueError:
        return None
    return value if len(value) == 16 else None
