"""Prints the metadata of all nodes of a bundlewrap repository, or of one."""

import json
import sys

from bundlewrap.repo import Repository


def plain(node):
    return {name: value for name, value in node.metadata.get(()).items() if name != "layers"}


def main(folder, only=None):
    repository = Repository(folder)
    if only:
        json.dump(plain(repository.get_node(only)), sys.stdout)
        return
    for number, node in enumerate(repository.nodes):
        sys.stdout.write(f"{',' if number else '{'}{json.dumps(node.name)}: {json.dumps(plain(node))}\n")
    sys.stdout.write("}\n")


main(*sys.argv[1:])
