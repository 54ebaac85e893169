"""An inventory on its way out: as a table for eyes, as CSV, or as records."""

import csv
import io
from collections.abc import Iterator
from typing import Any

import msgspec
from rich.text import Text

from gitcfg.cli.inventoried import Inventory, known
from gitcfg.cli.records import write_record
from gitcfg.cli.session import Output, Session, write
from gitcfg.cli.trails import aligned
from gitcfg.inventory.columns import TIMES, value
from gitcfg.inventory.places import Place
from gitcfg.inventory.places import counted as by_state
from gitcfg.inventory.records import ago, inventory_record
from gitcfg.inventory.standing import Standing
from gitcfg.load.keys import fingerprint
from gitcfg.model.text import ABBREVIATED, counted, safe

_SEEN = ("name", "state", "commit", "since", "checkin", "deployed", "who", "groups", "labels", "overdue")
_GIT = ("name", "state", "hold", "groups", "labels", "overdue")
_STYLES = {
    Standing.OK: "green",
    **dict.fromkeys((Standing.FAILED, Standing.REFUSED, Standing.REVERTED), "red"),
    **dict.fromkeys((Standing.DRIFTED, Standing.AWAY), "yellow"),
}
_IDS = ("commit", "failed", "digest")


def tell(session: Session, inventory: Inventory, columns: str | None, form: str) -> None:
    """Write an inventory. GitcfgError: there is no such column."""
    usual = _SEEN if inventory.seen else _GIT
    names = tuple(known(name.strip()) for name in columns.split(",")) if columns is not None else usual
    if form == "csv":
        write(_csv(inventory, names))
    elif form != "table":
        record = inventory_record(inventory.tip, inventory.now, inventory.places)
        write_record(record, Output(form))
    else:
        _table(session, inventory, names, columns is None)


def _table(session: Session, inventory: Inventory, names: tuple[str, ...], usual: bool) -> None:
    console = session.console()
    if inventory.places:
        rows = [tuple(_cell(one, name, inventory.now) for name in names) for one in inventory.places]
        shown = [at for at in range(len(names)) if not usual or any(row[at].plain for row in rows)]
        head = tuple(Text(names[at].replace("_", " "), "dim") for at in shown)
        for line in aligned([head, *(tuple(row[at] for at in shown) for row in rows)]):
            console.print(line)
    session.console(stderr=True).print(_summary(inventory))


def _summary(inventory: Inventory) -> str:
    said = counted(len(inventory.places), "node")
    states = [f"{number} {state}" for state, number in by_state(inventory.places).items()]
    unknown = sum(place.state is None for place in inventory.places)
    if inventory.seen and states and unknown:  # all of them together are all nodes
        states.append(
            f"{unknown} not known, since nothing was deployed to {'it' if unknown == 1 else 'them'} from here"
        )
    tip = f" The tip is {inventory.tip[:ABBREVIATED]}." if inventory.tip and inventory.seen else ""
    return f"{said}: {', '.join(states)}.{tip}" if states else f"{said}."


def _cell(place: Place, name: str, now: float) -> Text:
    said = value(place, name)
    if name == "state":
        return Text(said or "", _STYLES.get(place.state, "") if place.state is not None else "")
    if name in TIMES and said is not None:
        return Text(ago(now - said))
    if name in _IDS and said is not None:
        return Text(safe(said[:ABBREVIATED]))
    return Text(safe(_plain(name, said)), "bold" if name == "name" else "")


def _plain(name: str, said: Any) -> str:
    if said is None:
        return ""
    if name == "key":
        return fingerprint(said)
    if name == "overdue":
        return ", ".join(f"{override} since {day}" for override, day in said.items())
    if isinstance(said, list):
        return ", ".join(said)
    return msgspec.json.encode(said).decode() if isinstance(said, dict) else f"{said}"


def _csv(inventory: Inventory, names: tuple[str, ...]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(names)
    writer.writerows(_row(inventory, names))
    return text.getvalue()


def _row(inventory: Inventory, names: tuple[str, ...]) -> Iterator[list[str]]:
    for place in inventory.places:
        yield [_plain(name, value(place, name)) for name in names]
