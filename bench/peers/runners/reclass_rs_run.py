"""Prints the parameters of all nodes of a reclass inventory as reclass-rs reads it, or of one."""

import json
import sys

from reclass_rs import Reclass


def plain(node):
    return {name: value for name, value in node.parameters.items() if name != "_reclass_"}


def main(folder, only=None):
    reclass = Reclass(folder, "nodes", "classes")
    if only:
        json.dump(plain(reclass.nodeinfo(only)), sys.stdout)
        return
    for number, (name, node) in enumerate(reclass.inventory().nodes.items()):
        sys.stdout.write(f"{',' if number else '{'}{json.dumps(name)}: {json.dumps(plain(node))}\n")
    sys.stdout.write("}\n")


main(*sys.argv[1:])
