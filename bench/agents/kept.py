"""Whether every check-in to which the server said 200 is in its database."""

from sqlalchemy import func, select

from bench.agents.figures import Kept
from bench.agents.sheet import Sheet
from gitcfg.state.database import open_engine
from gitcfg.state.schema import NONCES
from gitcfg.state.state import connect


def kept(server: str, url: str, sheet: Sheet) -> Kept:
    """Each check-in has left its nonce, and each node's last one its number."""
    engine = open_engine(url)
    with engine.connect() as connection:
        found = connection.execute(select(func.count()).select_from(NONCES)).scalar_one()
    engine.dispose()
    state = connect(url)
    try:
        numbers = {node.node: int(node.facts.get("number", 0)) for node in state.checkins.nodes()}
    finally:
        state.close()
    return Kept(
        server=server,
        answered=sheet.kept.total(),
        found=found,
        behind=sum(1 for node, number in sheet.last.items() if number and numbers.get(node, 0) < number),
        verified=sheet.verified,
        wrong=", ".join(f"{count} {what}" for what, count in sorted(sheet.wrong.items())),
    )
