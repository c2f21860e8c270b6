"""Lines are read whole, wherever the pieces end in which a file is read."""

import gzip
import io

import pytest

from lineage_bridge.inputs.files.text import CHUNK_BYTES, FileText, LineReader

LINES = [b"%d " % number + b"x" * (number * 7919 % 100_000) for number in range(30)]
TEXT = b"\n".join(LINES)


@pytest.mark.parametrize("packed", [False, True])
def test_lines_across_pieces_are_whole_from_any_line_on(*, packed: bool) -> None:
    assert len(TEXT) > 4 * CHUNK_BYTES
    content = gzip.compress(TEXT) if packed else TEXT
    for first in (0, 1, 17):
        start = sum(len(line) + 1 for line in LINES[:first])
        reader = LineReader(FileText(io.BytesIO(content)), start)
        found = list(iter(reader.next, None))
        assert [line.data for line in found] == LINES[first:]
        assert [line.offset for line in found] == [
            start + sum(len(line) + 1 for line in LINES[first:at]) for at in range(first, len(LINES))
        ]
        assert found[-1].end == len(TEXT)
        assert not found[-1].has_end
