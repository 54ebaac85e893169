"""Prints the parameters of all nodes of a reclass inventory, or of one."""

import json
import sys

from reclass import get_storage
from reclass.core import Core
from reclass.settings import Settings


def main(folder, only=None):
    settings = Settings({"automatic_parameters": False})
    core = Core(get_storage("yaml_fs", f"{folder}/nodes", f"{folder}/classes", False), None, settings)
    if only:
        json.dump(core.nodeinfo(only)["parameters"], sys.stdout)
        return
    for number, (name, node) in enumerate(core.inventory()["nodes"].items()):
        sys.stdout.write(f"{',' if number else '{'}{json.dumps(name)}: {json.dumps(node['parameters'])}\n")
    sys.stdout.write("}\n")


main(*sys.argv[1:])
