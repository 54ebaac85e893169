"""The yardstick: parses every YAML file once with libyaml, merges dictionaries, prints one JSON document."""

import json
import sys
from pathlib import Path

import yaml


def read(folder):
    return {path.stem: yaml.load(path.read_bytes(), yaml.CSafeLoader) for path in folder.glob("*.yaml")}


def main(folder, only=None):
    root = Path(folder)
    read(root / "parameters"), read(root / "subsystems")
    features, groups = read(root / "features"), read(root / "groups")
    if only:
        nodes = {only: yaml.load((root / f"nodes/{only}.yaml").read_bytes(), yaml.CSafeLoader)}
    else:
        nodes = read(root / "nodes")
    whole = {}

    def feature(name):
        if name not in whole:
            found = {}
            for other in reversed(features[name].get("include", ())):
                found.update(feature(other))
            found.update(features[name].get("params", ()))
            whole[name] = found
        return whole[name]

    def params(node):
        found = {}
        for name in ("default", *reversed(node.get("groups", ()))):
            for other in reversed(groups[name].get("features", ())):
                found.update(feature(other))
            found.update(groups[name].get("params", ()))
        for other in reversed(node.get("features", ())):
            found.update(feature(other))
        found.update(node.get("params", ()))
        return found

    write = sys.stdout.write
    for number, name in enumerate(sorted(nodes)):
        write(
            f"{',' if number else '{'}\n{json.dumps(name)}: {json.dumps(params(nodes[name]), sort_keys=True)}"
        )
    write("}\n")


main(*sys.argv[1:])
