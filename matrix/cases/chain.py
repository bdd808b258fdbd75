"""Chains: published tests in which each answer becomes part of the next input. One RUN is many rounds of one."""

from collections import deque
from collections.abc import Iterator
from dataclasses import replace
from itertools import accumulate, islice

from matrix.cases.case import Case, Chain, Draft, Inputs, Outputs
from matrix.cases.layout import Binding, Layout, Slot, WordItem
from matrix.cases.material import byte_count, stream
from matrix.cases.placement import Placement
from matrix.model.interface import Argument, Interface, Operation, Pointer, Word
from matrix.oracles.registry import OracleFunction
from matrix.worker.protocol import MAX_STEPS, SLOT_BYTES, WORD_LAYOUT, Role

LINK_ROUNDS = 1000
"""A longer chain is cut into links of so many rounds, each of which starts where the oracle's last one ended."""
_TAPE = "chain"
"""The buffer that holds the first window and all answers, in the words of a report."""


class ChainLayout(Layout):
    """How a chain of one operation is laid out: inputs and answers lie on one tape, along which the calls move."""

    def __init__(
        self, interface: Interface, operation: Operation, binding: Binding, placement: Placement, chain: Chain
    ) -> None:
        self.interface = interface
        self._chain = chain
        self._output = next(iter(operation.outputs))
        super().__init__(interface, operation, binding, placement)
        self.exact = False  # of the tape that comes back only the last answer is compared

    def one_round(self) -> Layout:
        """How a round alone is laid out in the same placement, for the same binding."""
        return Layout(self.interface, self.operation, self._binding, self.placement)

    def rounds_in_window(self, case: Case) -> int:
        """How many rounds are given the answer of one: as many as answers fit into the window."""
        return len(_window(case.inputs, self._chain)) // self._answer_bytes(case)

    def outputs(self, case: Case, buffers: tuple[bytes, ...]) -> dict[str, bytes]:
        """The last answer on the tape."""
        return {self._output: buffers[0][-self._answer_bytes(case) :]}

    def _answer_bytes(self, case: Case) -> int:
        return self.output_lengths[self._output](case)

    def _tape_bytes(self, case: Case) -> int:
        return len(_window(case.inputs, self._chain)) + self._chain.rounds * self._answer_bytes(case)

    def _make_slots(self, interface: Interface) -> Iterator[Slot]:
        yield self._slot(_TAPE, Role.INOUT, self._output, self._tape_bytes, 1)
        for slot in super()._make_slots(interface):
            if slot.name not in self._chain.feed and slot.name != self._output:
                yield slot

    def _content(self, slot: Slot, case: Case) -> tuple[bytes, int]:
        if slot.name != _TAPE:
            return super()._content(slot, case)
        window, length = _window(case.inputs, self._chain), self._tape_bytes(case)
        return window + stream("filler", length - len(window)), length

    def _word(self, arg: Argument, split: str) -> list[WordItem]:
        feed = self._chain.feed
        if not isinstance(arg, Pointer) or (arg.role not in feed and arg.role != self._output):
            return super()._word(arg, split)
        # No step is told to keep the tape: the worker would compare all of it each time, and the next rounds would
        # show a window that was written.
        head = WORD_LAYOUT.pack(1, 0, 0, 0, 0)[:-8]
        before = feed[: feed.index(arg.role)] if arg.role in feed else feed

        def address(case: Case, start: int, _length: int) -> bytes:
            return head + (start + sum(byte_count(case.inputs[role]) for role in before)).to_bytes(8, "little")

        return [address]

    def _pack_steps(self, case: Case, pieces: dict[str, list[int]]) -> list[bytes]:
        width = self._answer_bytes(case)
        return [
            template.pack(case, turn * width, sum(pieces.get(template.split, ())))
            for turn in range(self._chain.rounds)
            for template in self._steps
        ]


def layout_of(
    interface: Interface, operation: Operation, binding: Binding, placement: Placement, chain: Chain | None
) -> Layout:
    """The layout of the cases of ``operation`` that have this ``chain``, None for those without one."""
    if chain is None:
        return Layout(interface, operation, binding, placement)
    return ChainLayout(interface, operation, binding, placement, chain)


def _window(inputs: Inputs, chain: Chain) -> bytes:
    parts = [inputs[role] for role in chain.feed]
    return b"".join(part for part in parts if isinstance(part, bytes))


def chain_problem(interface: Interface, operation: Operation, chain: Chain) -> str:
    """Why ``operation`` cannot be chained so, or ''."""
    sizes = [operation.inputs.get(role) for role in chain.feed]
    if not chain.feed or any(size is None or size.word for size in sizes) or len(set(chain.feed)) < len(chain.feed):
        return f"feed {list(chain.feed)} does not name inputs of bytes"
    if len(operation.outputs) != 1 or operation.refuses or not all(s.choices for s in operation.outputs.values()):
        return "an operation with one output of fixed size can be chained, and no other"
    if any(isinstance(arg, Word) and arg.advance_by for step in operation.steps for arg in _args(interface, step.call)):
        return "an operation whose calls count blocks cannot be chained"
    answer = sum(sum(size.choices) for size in operation.outputs.values())
    rounds = min(chain.rounds, LINK_ROUNDS)
    if rounds < 1 or rounds * len(operation.steps) > MAX_STEPS or (rounds + len(chain.feed)) * answer > SLOT_BYTES // 2:
        return f"{rounds} rounds do not fit into one request"
    return ""


def _args(interface: Interface, call: str) -> tuple[Argument, ...]:
    return interface.calls[call].args


def _rounds(oracle: OracleFunction, inputs: Inputs, chain: Chain) -> Iterator[tuple[Inputs, Outputs, Inputs]]:
    """Of each round its inputs, its answer, and the inputs of the round after it."""
    lengths = [byte_count(inputs[role]) for role in chain.feed]
    ends = list(accumulate(lengths))
    window = _window(inputs, chain)
    for _ in range(chain.rounds):
        answer = oracle(**inputs)
        assert answer is not None, "an operation that refuses is not chained"
        (value,) = answer.values()
        window = (window + value)[len(value) :]
        fed = {role: window[end - size : end] for role, size, end in zip(chain.feed, lengths, ends, strict=True)}
        after = {**inputs, **fed}
        yield inputs, answer, after
        inputs = after


def run_chain(oracle: OracleFunction, inputs: Inputs, chain: Chain) -> tuple[Outputs, Inputs]:
    """The answer of the last round, and the inputs that the round after it would have."""
    ((_, answer, after),) = deque(_rounds(oracle, inputs, chain), maxlen=1)
    return answer, after


def round_case(case: Case, chain: Chain, oracle: OracleFunction, turn: int) -> Case:
    """Round ``turn`` of a chained case, counted from 0, as a case of its own, which does not need the rounds before."""
    inputs, answer, _ = next(islice(_rounds(oracle, case.inputs, chain), turn, None))
    name, origin = f"{case.name}-round-{turn + 1}", f"{case.origin}, round {turn + 1} of {chain.rounds:,}"
    return replace(case, name=name, origin=origin, inputs=inputs, expected=answer, chain=None)


def first_wrong_round(case: Case, chain: Chain, oracle: OracleFunction, tape: bytes) -> int | None:
    """The first round, counted from 0, whose answer on the ``tape`` that came back is wrong, None when none is."""
    at = len(_window(case.inputs, chain))
    for turn, (_, answer, _) in enumerate(_rounds(oracle, case.inputs, chain)):
        (value,) = answer.values()
        if tape[at : at + len(value)] != value:
            return turn
        at += len(value)
    return None


def links(draft: Draft, oracle: OracleFunction) -> Iterator[Draft]:
    """``draft`` itself, or the links of its long chain; only the last of them has the published answer.

    Whoever does all links right does the chain right: each starts with the answers of the one before it.
    """
    chain = draft.chain
    if chain is None or chain.rounds <= LINK_ROUNDS:
        yield draft
        return
    inputs, done = draft.inputs, 0
    while done < chain.rounds:
        link = Chain(chain.feed, min(LINK_ROUNDS, chain.rounds - done))
        last = done + link.rounds == chain.rounds
        name = draft.name if last else f"{draft.name}-from-{done}"
        answer, after = run_chain(oracle, inputs, link)
        published = draft.published if last else None
        yield replace(draft, name=name, inputs=inputs, chain=link, published=published, known=answer)
        done += link.rounds
        inputs = after
