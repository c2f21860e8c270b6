"""`python -m bench`: run the benchmarks and print one JSON document."""

import sys

from bench.command import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
