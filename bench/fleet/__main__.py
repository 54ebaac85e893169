"""`python -m bench.fleet FOLDER`: writes a fleet of any size in a tool's format, to look at or to load."""

import argparse
from pathlib import Path

import msgspec

from bench.fleet import FLEETS, Options, draw
from bench.fleet.lay import lay
from bench.peers import PEERS


def main() -> None:
    """Write it; each option of a fleet can be given."""
    parser = argparse.ArgumentParser(prog="python -m bench.fleet", description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--fleet", choices=FLEETS, default="small", help="the fleet to begin with")
    parser.add_argument("--tool", choices=PEERS, default="yardstick", help="whose format (gitcfg: yardstick)")
    for field in msgspec.structs.fields(Options):
        parser.add_argument(f"--{field.name.replace('_', '-')}", type=field.type, default=argparse.SUPPRESS)
    given = vars(parser.parse_args())
    folder, fleet, tool = given.pop("folder"), given.pop("fleet"), given.pop("tool")
    options = msgspec.structs.replace(FLEETS[fleet], **given)
    lay(folder, PEERS[tool].files(draw(options)))


if __name__ == "__main__":
    main()
