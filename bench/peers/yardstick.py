"""The yardstick: a plain program that reads gitcfg's own files and does nothing that need not be done."""

from bench.fleet.repository import files
from bench.peers.peer import Peer, by_node

PEER = Peer(
    name="yardstick",
    requirements=("PyYAML",),
    files=files,
    everything=lambda tool, folder: tool.runner("yardstick", str(folder)),
    one=lambda tool, folder, node: tool.runner("yardstick", str(folder), node),
    answers=by_node,
    says="each YAML file parsed once by libyaml (CSafeLoader), dict.update, json.dumps a node; no checks",
)
