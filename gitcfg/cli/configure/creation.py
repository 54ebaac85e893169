"""Steps of `gitcfg configure` that create a named thing that does not exist yet."""

from gitcfg.cli.configure.conversation import Conversation
from gitcfg.cli.configure.questions import Question, ask_in_turn, find_name
from gitcfg.compile.values import TYPES
from gitcfg.edit.configure import Step, list_parameter_files
from gitcfg.edit.draft import refuse_existing_name
from gitcfg.edit.kinds import kind_of
from gitcfg.edit.orders import Action, Order
from gitcfg.edit.yaml.changes import Given
from gitcfg.model import GitcfgError
from gitcfg.model.names import PARAMETER
from gitcfg.model.text import safe


def create_feature(at: Conversation, name: str) -> bool:
    """Create a feature, and the features that it includes if these are new, too."""
    refuse_existing_name(at.work.draft, kind_of("feature"), name)
    description, text = ask_in_turn(
        at,
        (
            _ask_description(name),
            Question(
                f"Features that {safe(name)} includes, separated by commas (Enter: none):",
                "A feature includes others: nodes with it have them too. Unknown ones can be created.",
            ),
        ),
    )
    included = []
    for each in filter(None, map(str.strip, text.split(","))):
        if each == name:
            raise GitcfgError(f"The feature {safe(name)} cannot include itself.")
        found = find_name(at, "feature", each, at.now.fleet.model.features.keys(), create_feature)
        included += [Given(found)] if found is not None else []
    add = {"include": tuple(included)} if included else {}
    fields = {"description": Given(description)} if description else {}
    return _create(at, Order(Action.NEW, "feature", name, add=add, fields=fields))


def create_group(at: Conversation, name: str) -> bool:
    """Create a group without features."""
    refuse_existing_name(at.work.draft, kind_of("group"), name)
    (description,) = ask_in_turn(at, (_ask_description(name),))
    fields = {"description": Given(description)} if description else {}
    return _create(at, Order(Action.NEW, "group", name, fields=fields))


def create_parameter(at: Conversation, name: str) -> bool:
    """Declare a parameter."""
    if not PARAMETER.fullmatch(name):
        raise GitcfgError(f"{safe(name)} is not a valid name for a parameter.", "See `gitcfg help GC103`.")
    refuse_existing_name(at.work.draft, kind_of("parameter"), name)
    files = list_parameter_files(at.now.fleet.model)
    questions = [
        _ask_description(name),
        Question(
            f"Type of {safe(name)} (Enter: string):",
            f"One of: {', '.join(TYPES)}. A list, map or expression composes from several layers.",
            "string",
            TYPES,
        ),
    ]
    if len(files) > 1:
        where = f"The file in which {safe(name)} is declared. The first has the most parameters."
        help = "\n".join((where, *(f"  {safe(file)}" for file in files)))
        questions.append(Question(f"File for it (Enter: {safe(files[0])}):", help, files[0], files))
    description, type_, *file = ask_in_turn(at, questions)
    fields = {"description": Given(description)} if description else {}
    fields["type"] = Given(type_)
    return _create(at, Order(Action.NEW, "parameter", name, place="".join(file), fields=fields))


def _ask_description(name: str) -> Question:
    return Question(f"Description of {safe(name)} (Enter: none):", "One sentence: what it is for.")


def _create(at: Conversation, order: Order) -> bool:
    done = at.do(Step(f"create {order.kind} {order.name}", (order,)))
    at.talk.tell(f"created the {order.kind} {safe(order.name)}", "green")
    return done
