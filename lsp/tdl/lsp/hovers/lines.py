"""What a line of a schedule does, and why it is legal or is not; what its loops are at that line."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from tdl.compiler.schedule.apply import Step
from tdl.compiler.schedule.check import cases_of, steps_at, wrong_lines
from tdl.compiler.schedule.choose import ancestors, holds
from tdl.compiler.schedule.names import find_loop
from tdl.compiler.schedule.printer import buffer_text
from tdl.compiler.schedule.refusal import Refusal
from tdl.compiler.schedule.text import form_text
from tdl.compiler.schedule.tree import Loop, Nest
from tdl.compiler.schedule.views import View, loops_made, most, range_of, view_of
from tdl.compiler.schedule.walk import loops_of
from tdl.language import syntax
from tdl.language.binding import describe_sizes
from tdl.language.cases import Case, check_case
from tdl.language.forms import Form, constant
from tdl.language.module import Entry
from tdl.language.scope import Declaration
from tdl.lsp.documentation import code, joined, of_word
from tdl.lsp.glossary import describe
from tdl.lsp.hovers.reasons import REASONS
from tdl.lsp.snapshot import Snapshot
from tdl.lsp.units import bytes_text

ONE = constant(1)
_SHOWN = 8


@dataclass(frozen=True)
class AtLine:
    """A line of a schedule: its number, and the nests before and behind it, for all sizes; None where the op is wrong.

    `cases` are the tests and benches for whose sizes the schedule is. `is_certain` says that neither this line nor one
    above waits for sizes to have numbers, `is_sound` that neither is wrong by itself.
    """

    schedule: Declaration
    line: syntax.ScheduleLine
    number: int
    before: Nest | None
    step: Step | None
    cases: tuple[Declaration, ...]
    is_certain: bool = False
    is_sound: bool = True

    def checked(self) -> Iterator[Case]:
        """The cases."""
        for declaration in self.cases:
            case = check_case(declaration).case
            if case is not None:
                yield case

    def steps(self) -> Iterator[tuple[Case, Nest, Step]]:
        """The nest before, and what the line does, at the sizes of each case."""
        for declaration in self.cases:
            case, applied = check_case(declaration).case, steps_at(self.schedule, declaration)
            if case is not None and applied is not None:
                yield case, applied.steps[self.number].nest, applied.steps[self.number + 1]


def line_at(snapshot: Snapshot, entry: Entry, offset: int) -> AtLine | None:
    """The line of a schedule at an offset of its item."""
    item = entry.placed.item
    if not isinstance(item, syntax.Schedule):
        return None
    for number, line in enumerate(item.body):
        if line.span.start <= offset <= line.span.end and not isinstance(line, syntax.Broken):
            return at_line(snapshot, entry.declaration, line, number)
    return None


def at_line(snapshot: Snapshot, schedule: Declaration, line: syntax.ScheduleLine, number: int) -> AtLine:
    item = schedule.item
    assert isinstance(item, syntax.Schedule)
    op = schedule.environment.find("callable", item.op.text)
    is_for_gpu = item.target is not None and "gpu" in ancestors(item.target.text, schedule)
    applied = None if is_for_gpu else steps_at(schedule)
    if applied is None or op is None:
        return AtLine(schedule, line, number, None, None, ())
    cases = tuple(case for case in cases_of(snapshot.analysis, op) if _is_for(schedule, case))
    is_certain = not any(step.is_open for step in applied.steps[: number + 2])
    is_sound = not any(wrong <= number for wrong in wrong_lines(schedule))
    before, step = applied.steps[number].nest, applied.steps[number + 1]
    return AtLine(schedule, line, number, before, step, cases, is_certain, is_sound)


def _is_for(schedule: Declaration, declaration: Declaration) -> bool:
    case = check_case(declaration).case
    return case is not None and holds(schedule, case.bound.program, case.bound.sizes)


# ---- the line


def of_line(at: AtLine, verb: str) -> str | None:
    """What the line does, what became of the loops, and whether it is legal."""
    word = describe(verb)
    if word is None:
        return None
    return joined(of_word(verb, word), *_legality(at, verb), *_made(at))


def _legality(at: AtLine, verb: str) -> Iterator[str]:
    step, reason = at.step, REASONS.get(verb)
    if step is None or not at.is_sound or not isinstance(at.line, syntax.Line):
        return
    if at.is_certain:
        legal = f"Legal for all sizes: {reason}." if reason else "Legal for all sizes."
        yield legal if step.refusal is None else f"Refused: {_why(step)}"
    elif at.cases:
        for case, _, found in at.steps():
            where = f"{describe_sizes(case.bound.sizes)} (`{case.name}`)"
            yield f"Legal at {where}: {reason}." if found.refusal is None else f"Refused at {where}: {_why(found)}"
    elif step.refusal is not None:
        yield f"Decided when the op is called: {_why(step)}"
    else:
        yield "Decided when the op is called, with a line above."


def _why(step: Step) -> str:
    assert step.refusal is not None
    return "\n".join((f"{step.refusal.message}.", *(f"- {note}" for note in step.refusal.notes)))


def _made(at: AtLine) -> Iterator[str]:
    """The loops that the line made or changed."""
    if at.before is None or at.step is None or at.step.refusal is not None:
        return
    after = at.step.nest
    names = {name.text for name in at.line.results} if isinstance(at.line, syntax.Line) else set[str]()
    loops = [(loop.name if loop.name in names else loop.label, loop) for loop in loops_made(at.before, after)]
    texts = [f"for {name} in {range_of(after, loop)}" for name, loop in loops]
    if texts:
        more = ["..."] if len(texts) > _SHOWN else []
        yield code("\n".join((*texts[:_SHOWN], *more)))


# ---- a loop, as it is at the line


def of_loop(at: AtLine, name: str, *, is_result: bool) -> str | None:
    """What a loop is before the line, or behind the line that makes it."""
    if at.step is None or at.before is None:
        return None
    nest = at.step.nest if is_result and at.step.refusal is None else at.before
    loop = found_loop(nest, name)
    if loop is None:
        return None
    view = view_of(nest, loop)
    kind = "" if view.kind == "serial" else f"{view.kind} "
    return joined(code(f"{kind}for {name} in {view.range}"), *_extent(at, view), *_body(at, view))


def found_loop(nest: Nest, name: str) -> Loop | None:
    """The loop that a name means in a nest, None where it means none or several."""
    try:
        return find_loop(nest, name)
    except Refusal:
        return None


def _extent(at: AtLine, view: View) -> Iterator[str]:
    """How often it runs, and by how much a step moves what."""
    found = [] if view.extent.is_constant else [_most(view.extent, case) for case in at.checked()]
    sizes = ", ".join(filter(None, found))
    moves = ", ".join(f"`{index}` by {step}" for index, step in view.moves)
    count = "1 iteration" if view.extent == ONE else f"{_quoted(view.extent)} iterations"
    yield f"{count}{f' ({sizes})' if sizes else ''}" + (f"; a step moves {moves}." if moves else ".")


def _most(form: Form, case: Case) -> str:
    value, is_exact = most(form, case.bound.sizes)
    return "" if value is None else f"{'' if is_exact else 'at most '}{value} in `{case.name}`"


def _quoted(form: Form) -> str:
    text = form_text(form)
    return text if text.isdigit() else f"`{text}`"


def _body(at: AtLine, view: View) -> Iterator[str]:
    """What one iteration touches."""
    if not view.boxes:
        return
    lines = [f"- `{each.text}`, {_elements(each.count)}{', written' if each.is_written else ''}" for each in view.boxes]
    yield "\n".join(("One iteration touches", *lines))
    found = {case.name: shown for case in at.checked() if (shown := _bytes(view, case)) is not None}
    if len(set(found.values())) == 1:
        yield f"At most {next(iter(found.values()))}."
    elif found:
        yield f"At most {', '.join(f'{shown} in `{name}`' for name, shown in found.items())}."


def _elements(count: Form) -> str:
    return "1 element" if count == ONE else f"{_quoted(count)} elements"


def _bytes(view: View, case: Case) -> str | None:
    """The bytes that one iteration touches at the sizes of a case."""
    total = 0
    for box in view.boxes:
        count, _ = most(box.count, case.bound.sizes)
        if count is None or box.bytes is None:
            return None
        total += count * box.bytes
    return bytes_text(total)


def of_copy(at: AtLine, name: str) -> str | None:
    """What is kept of a copy, and where."""
    if at.step is None or at.before is None:
        return None
    nest = at.step.nest if name in at.step.nest.buffers else at.before
    buffer = nest.buffers.get(name)
    if buffer is None:
        return None
    around = next((loop.label for loop in loops_of(nest.body) if loop.symbol == buffer.at), None)
    where = "" if around is None else f" in the body of `{around}`"
    return joined(code(buffer_text(nest, buffer)), f"Kept in {buffer.memory} memory{where}.")
