"""The OpenAPI description: the file that is served, and that tests check the server against."""

from functools import cache
from pathlib import Path

FILE = Path(__file__).parent / "openapi.json"


@cache
def load_description() -> bytes:
    """Load the OpenAPI description."""
    return FILE.read_bytes()
