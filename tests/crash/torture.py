"""Events come in by every way while something breaks, round after round; after each, every event is in the graph once.

`python -m tests.crash.torture --rounds 200 --seed 7` prints what was done in each round, and what came of it.
"""

import argparse
import random
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from tests.crash.faults import FAULTS, dealt
from tests.crash.running.installation import installed
from tests.crash.running.surroundings import alone
from tests.inputs.exports import compare, print_line


def torture(folder: Path, rounds: int, seed: int, report: Callable[[str], None], only: Sequence[str] = ()) -> None:
    """So many rounds; each fault comes once before any comes again. With `only`, these come in each round."""
    chance = random.Random(seed)
    report(f"seed {seed}, {rounds} rounds")
    with installed(folder) as made:
        made.settle()
        left: list[tuple[str, ...]] = []
        for number in range(rounds):
            left = left or ([tuple(only)] if only else dealt(chance))
            faults, began = left.pop(), time.monotonic()
            outcome = made.round(faults, chance)
            report(f"round {number + 1} of {rounds} (seed {seed}): {', '.join(faults)}: {outcome}; {time.monotonic() - began:.0f} s")


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="make torture", description=__doc__)
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--exports", type=int, default=100_000, help="events that come by each way, to compare exports; 0: none")
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(10**6))
    parser.add_argument("--fault", action="append", default=[], choices=sorted(FAULTS), help="do this in each round, and nothing else")
    parser.add_argument("--mounted", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if (code := alone("tests.crash.torture", arguments)) is not None:
        return code
    with tempfile.TemporaryDirectory(prefix="lineage-bridge-torture-") as folder:
        (Path(folder) / "rounds").mkdir()
        torture(Path(folder) / "rounds", options.rounds, options.seed, print_line, options.fault)
        if options.exports:
            compare(Path(folder), options.exports, print_line)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
