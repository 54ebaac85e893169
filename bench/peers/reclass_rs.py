"""reclass-rs (Rust): the files of reclass."""

from bench.peers.peer import Peer, by_node
from bench.peers.reclass import files

PEER = Peer(
    name="reclass-rs",
    requirements=("reclass-rs",),
    files=files,
    everything=lambda tool, folder: tool.runner("reclass_rs_run", str(folder)),
    one=lambda tool, folder, node: tool.runner("reclass_rs_run", str(folder), node),
    answers=by_node,
    says="API: Reclass.inventory(), a thread a core",
)
