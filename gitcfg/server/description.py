"""The interface as it is described: the file that is served, and that the tests hold the server to."""

from functools import cache
from pathlib import Path

FILE = Path(__file__).parent / "openapi.json"


@cache
def load_description() -> bytes:
    """Load the OpenAPI description."""
    return FILE.read_bytes()
