"""The tools that gitcfg is compared with: a module a tool, and the scripts that ask them."""

from bench.peers import (
    ansible,
    bundlewrap,
    nornir,
    reclass,
    reclass_rs,
    rjsonnet,
    yardstick,
)
from bench.peers.peer import Peer, Tool

YARDSTICK = yardstick.PEER
PEERS: dict[str, Peer] = {
    module.PEER.name: module.PEER
    for module in (yardstick, rjsonnet, nornir, reclass, ansible, bundlewrap, reclass_rs)
}

__all__ = ["PEERS", "YARDSTICK", "Peer", "Tool"]
