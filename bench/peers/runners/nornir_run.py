"""Prints the extended data of all hosts of a SimpleInventory, or of one."""

import json
import sys

from nornir.plugins.inventory.simple import SimpleInventory


def main(folder, only=None):
    inventory = SimpleInventory(f"{folder}/hosts.yaml", f"{folder}/groups.yaml", "/nonexistent").load()
    if only:
        json.dump(inventory.hosts[only].extended_data(), sys.stdout)
        return
    for number, (name, host) in enumerate(inventory.hosts.items()):
        sys.stdout.write(f"{',' if number else '{'}{json.dumps(name)}: {json.dumps(host.extended_data())}\n")
    sys.stdout.write("}\n")


main(*sys.argv[1:])
