"""Build the corpus of an algorithm: vectors, edges and random cases, answered by the oracle, kept on disk."""

import importlib
import importlib.util
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import cast

from filelock import FileLock

from matrix.cases import store
from matrix.cases.case import Case, Corpus, Draft, Inputs, Outputs, name_problem
from matrix.cases.chain import chain_problem, links, run_chain
from matrix.cases.edges import generic_edges
from matrix.cases.layout import repeat_problem
from matrix.cases.manifest import sources_of, use_problem
from matrix.cases.material import byte_count
from matrix.cases.numbering import numbered
from matrix.cases.randomized import random_cases
from matrix.cases.vectors import every_published
from matrix.errors import MatrixError, OracleError, VectorError
from matrix.model.interface import Interface, Operation, Size
from matrix.model.near import known_names
from matrix.oracles.registry import Answer, OracleFunction, models, reporting

EdgeFunction = Callable[[Interface], Iterable[Draft]]
"""The function ``edges`` of ``matrix/cases/<algorithm>_edges.py``."""


def build_corpus(
    interface: Interface,
    min_bytes: Iterable[int],
    seed: int,
    exhaustive: bool,
    cache: Path,
    vectors: Path | None = None,
) -> Corpus:
    """The corpus of ``interface``'s algorithm, computed once and then read from the folder ``cache``.

    ``min_bytes`` are the lengths in bytes from which variants are chosen; lengths are tried around each.
    ``seed`` fixes the random cases. ``exhaustive`` adds more of them and more endings of counter cases.
    ``vectors`` is the folder of sources.toml (default: beside the folder ``kernels`` of the interface).
    Raises VectorError and OracleError.
    """
    limits = sorted(set(min_bytes))
    folder = vectors or interface.path.parents[2] / "vectors"
    key = store.content_key(interface, folder, limits, seed, exhaustive)
    path = cache / f"cases-{interface.algorithm}-{key[:32]}.msgpack"
    corpus = store.load(path, interface.algorithm)
    if corpus is None:
        cache.mkdir(parents=True, exist_ok=True)
        with FileLock(path.with_suffix(".lock")):
            corpus = store.load(path, interface.algorithm)
            if corpus is None:
                store.save(path, compute_cases(interface, limits, seed, exhaustive, folder))
                corpus = store.load(path, interface.algorithm)
    if corpus is None:
        raise MatrixError("a corpus cannot be read back", where=str(path), step="check the disk that holds the cache")
    return corpus


def compute_cases(
    interface: Interface, min_bytes: Iterable[int], seed: int, exhaustive: bool, vectors: Path
) -> tuple[Case, ...]:
    """All cases of the algorithm with their answers, in corpus order, without a cache."""
    answers = {name: models(interface, name) for name in interface.operations}
    with reporting(f"the edge cases of {interface.algorithm} cannot be made"):
        edges = [*generic_edges(interface, min_bytes, exhaustive), *own_edges(interface)]
    made = [
        *_published(interface, vectors, exhaustive),
        *edges,
        *random_cases(interface, seed, exhaustive),
    ]
    _require_names(interface, made)  # of the long ones too, which only an exhaustive run answers
    drafts = [link for draft in made if exhaustive or draft.tier != "long" for link in parts(draft, interface, answers)]
    _require_names(interface, drafts)
    return numbered(interface, [answered(draft, interface, answers) for draft in drafts])


def _published(interface: Interface, vectors: Path, exhaustive: bool) -> list[Draft]:
    """The published cases of this run. All are held against the interface, also those that only other runs have."""
    for source, path in sources_of(interface.algorithm, vectors):
        for use in source.use:
            if use.algorithm == interface.algorithm and (problem := use_problem(source, use, interface)):
                raise VectorError("a use does not fit the interface", where=str(path), why=problem)
    every = list(every_published(interface.algorithm, vectors))
    for draft, _ in every:
        if not draft.skip:
            _require_fit(draft, interface)
    return [draft for draft, sampled in every if sampled or exhaustive]


def _require_names(interface: Interface, drafts: Iterable[Draft]) -> None:
    if problem := name_problem(draft.name for draft in drafts):
        step = "rename one of the cases"
        raise VectorError(f"{interface.algorithm}: the corpus is ambiguous", why=problem, step=step)


def parts(draft: Draft, interface: Interface, answers: dict[str, tuple[OracleFunction, ...]]) -> Iterable[Draft]:
    """The parts of a long chain, once it is known to fit the interface; every other draft as it is."""
    if draft.chain is None:
        return (draft,)
    _require_fit(draft, interface)
    with _naming(draft):
        return list(links(draft, answers[draft.operation][0]))


def own_edges(interface: Interface) -> Iterable[Draft]:
    """The drafts of ``matrix/cases/<algorithm>_edges.py``; none when the algorithm has no such file."""
    name = f"{__package__}.{interface.algorithm}_edges"
    if importlib.util.find_spec(name) is None:
        return ()
    return cast(EdgeFunction, importlib.import_module(name).edges)(interface)


def answered(draft: Draft, interface: Interface, answers: dict[str, tuple[OracleFunction, ...]]) -> Case:
    """``draft`` with the oracle's answer; ``answers`` holds each operation's models, the preferred first.

    A published answer is compared with the oracle; published and smoke cases are put to every model. Raises
    VectorError for a case that contradicts the oracle or does not fit the interface, OracleError when two
    models disagree.
    """
    case = partial(
        Case,
        draft.name,
        interface.algorithm,
        draft.operation,
        draft.inputs,
        draft.origin,
        draft.tier,
        skip=draft.skip,
        chain=draft.chain,
        total=draft.total,
        target=draft.target,
        extra=draft.extra,
    )
    if draft.skip:
        return case(expected=None)
    _require_fit(draft, interface)
    operation = interface.operations[draft.operation]
    first, *others = answers[draft.operation]
    with _naming(draft):
        answer = _answer(draft, operation, first)
    if problem := output_problem(operation, draft.inputs, answer):
        raise OracleError(f"the oracle's answer to {draft.name} does not fit the interface", why=problem)
    if draft.published is not None:
        _compare_published(draft, answer)
    # The second model is plain Python: it has no time for many calls.
    if draft.chain is None and not draft.total and (draft.published is not None or draft.tier == "smoke"):
        for other in others:
            with _naming(draft):
                second = other(**draft.inputs)
            if second != answer:
                why = f"{_shown(answer)} and {_shown(second)}"
                raise OracleError(f"two oracles disagree about {interface.algorithm} {draft.name}", why=why)
    return case(expected=answer)


@contextmanager
def _naming(draft: Draft) -> Iterator[None]:
    """Around a call of an oracle: its error names the case."""
    try:
        yield
    except OracleError as problem:
        where = f"case {draft.name}; {problem.where}"
        raise OracleError(problem.what, where=where, why=problem.why, step=problem.step) from problem


def _require_fit(draft: Draft, interface: Interface) -> None:
    """Raises VectorError when the interface has no such operation, or the inputs are not the operation's."""
    if draft.operation not in interface.operations:
        why = f"{interface.algorithm} has no operation {draft.operation!r}; "
        why += known_names(draft.operation, list(interface.operations))
        raise VectorError(f"case {draft.name} names an unknown operation", where=draft.where, why=why)
    operation = interface.operations[draft.operation]
    named = draft.published if isinstance(draft.published, dict) else {}
    if odd := set(named) - set(operation.outputs):
        why = f"{min(odd)!r} is no output of {operation.name}; {known_names(min(odd), list(operation.outputs))}"
        raise VectorError(f"case {draft.name} does not fit the interface", where=draft.where, why=why)
    if problem := input_problem(operation, draft.inputs) or many_calls_problem(interface, operation, draft):
        raise VectorError(f"case {draft.name} does not fit the interface", where=draft.where, why=problem)


def _answer(draft: Draft, operation: Operation, oracle: OracleFunction) -> Answer:
    if draft.known is not None:
        return draft.known
    if draft.chain:
        return run_chain(oracle, draft.inputs, draft.chain)[0]
    if draft.total:
        unit = draft.inputs[operation.split_role]
        assert isinstance(unit, bytes), "many_calls_problem has looked at it"
        whole = (unit * (draft.total // len(unit) + 1))[: draft.total]
        return oracle(**{**draft.inputs, operation.split_role: whole})
    return oracle(**draft.inputs)


def many_calls_problem(interface: Interface, operation: Operation, case: Draft | Case) -> str:
    """Why ``case`` cannot be a chain or a repeated message, or ''."""
    if case.chain and case.total:
        return "a chain whose message is repeated"
    if case.chain:
        return chain_problem(interface, operation, case.chain)
    return repeat_problem(interface, operation, case.inputs, case.total) if case.total else ""


def _compare_published(draft: Draft, answer: Answer) -> None:
    published_answer: Answer = None if draft.published == "refuse" else cast(Outputs, draft.published)
    # A source may print only some of the outputs, as those of CBC leave out the iv that comes back.
    if answer and published_answer:
        answer = {role: value for role, value in answer.items() if role in published_answer}
    if published_answer != answer:
        why = f"published {_shown(published_answer)}; oracle {_shown(answer)}"
        raise VectorError(f"vector {draft.name} contradicts the oracle", where=draft.where, why=why)


def _shown(answer: Answer) -> str:
    if answer is None:
        return "refusal"
    return ", ".join(f"{role} = {value.hex()}" for role, value in answer.items())


def input_problem(operation: Operation, inputs: Inputs) -> str:
    """Why ``inputs`` are not inputs of ``operation``, or ''."""
    if set(inputs) != set(operation.inputs):
        return f"inputs {sorted(inputs)}, the operation takes {sorted(operation.inputs)}"
    return next(
        (text for role in inputs if (text := _size_problem(role, operation.inputs[role], inputs[role], inputs))),
        "",
    )


def output_problem(operation: Operation, inputs: Inputs, outputs: Answer) -> str:
    """Why ``outputs`` are not outputs of ``operation`` for ``inputs``, or ''; a refusal always fits."""
    if outputs is None:
        return ""
    sizes = operation.outputs
    return next((text for role in outputs if (text := _size_problem(role, sizes[role], outputs[role], inputs))), "")


def _size_problem(role: str, size: Size, value: bytes | int, inputs: Inputs) -> str:
    if size.word or isinstance(value, int):
        fits = size.word and isinstance(value, int) and 0 <= value < 1 << 32
        return "" if fits else f"{role} must be {'a 32-bit word' if size.word else 'bytes'}"
    length = len(value)
    if size.choices:
        return "" if length in size.choices else f"{role} has {length} bytes, not one of {list(size.choices)}"
    if size.like:
        wanted = byte_count(inputs[size.like]) + size.extra
        return "" if length == wanted else f"{role} has {length} bytes, not the {wanted} that follow from {size.like}"
    if length < (size.minimum or 0) or (size.maximum is not None and length > size.maximum):
        return f"{role} has {length} bytes, outside its range"
    if length % size.multiple:
        return f"{role} has {length} bytes, not a multiple of {size.multiple}"
    return ""
