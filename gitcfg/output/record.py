"""What gitcfg wrote, as its manifest and its journal say it: one line a node."""

from collections.abc import Iterable

import msgspec

UNKNOWN = -1
"""As a size or time: nobody saw the file in place."""


class Trace(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A file that gitcfg wrote: SHA-256 of its content, and what it was like then (`mtime` in ns)."""

    path: str
    mode: str
    digest: str
    size: int = UNKNOWN
    mtime: int = UNKNOWN


class Record(msgspec.Struct, frozen=True, array_like=True):
    """A node's files that gitcfg wrote. `fingerprint` is of what they were made from, "" if that is not all.

    A path stands there twice if it is not certain which of two contents was written last.
    """

    node: str
    fingerprint: str
    files: tuple[Trace, ...]


class _Named(msgspec.Struct, frozen=True, array_like=True):
    """The beginning of a record."""

    node: str


_decoder = msgspec.json.Decoder(Record)
_named = msgspec.json.Decoder(_Named)
_encoder = msgspec.json.Encoder()


def encode_record(record: Record) -> bytes:
    """A record as a line."""
    return _encoder.encode(record) + b"\n"


def decode_record(text: bytes) -> Record:
    """A line as a record. msgspec.DecodeError: it is none."""
    return _decoder.decode(text)


def decode_node(text: bytes) -> str:
    """The node that a line is about."""
    return _named.decode(text).node


def join_records(node: str, known: Iterable[Record]) -> Record:
    """Records of one node as one, for which not everything is certain."""
    traces = dict.fromkeys(trace for record in known for trace in record.files)
    return Record(node, "", tuple(traces))
