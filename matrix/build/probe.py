"""Build and run the probe: what an emulated CPU executes, tried once per QEMU and CPU string."""

import hashlib
import json
import re
import shlex
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from matrix.build.ninja import Edge, discard_damaged, make
from matrix.build.toolchain import LINK, compiler_version, qemu_version, worker_flags
from matrix.errors import BuildError, ToolError, storing
from matrix.model.capability import CapabilityTable
from matrix.model.catalog import Catalog
from matrix.model.target import Target
from matrix.plain import plain_line
from matrix.plan.ability import Abilities, CpuAbility
from matrix.plan.cell import NATIVE
from matrix.sandbox.base import Sandbox
from matrix.sandbox.locks import build_lock, cache_root

_PROBES_AT_ONCE = 4
_REFUSAL = re.compile(
    r"can't apply global|unable to find CPU model|doesn't support requested feature|not found|must have"
    r"|uncaught target signal"
)
"""How QEMU says that it has no such CPU, and how a guest ends whose libc needs more than the CPU has."""


def probe_abilities(
    sandbox: Sandbox, catalog: Catalog, targets: Iterable[Target], strings: Iterable[tuple[Target, str]]
) -> Abilities:
    """Try every CPU string of ``strings``, which the plan may give to one of ``targets``; what was tried before is read
    from the cache.

    Raises ToolError when a target's tools are missing and BuildError when the probe does not build.
    """
    wanted = {target.name for target in targets}
    cpus: dict[tuple[str, str], CpuAbility] = {}
    versions: dict[str, str] = {}
    for target, text in _by_target(strings):
        if target.qemu not in versions:
            sandbox.ready_for(target)
            versions[target.qemu] = qemu_version(sandbox, target.qemu)
        cpus |= _probe_target(sandbox, catalog, target, text)
    for target in catalog.targets.targets:
        if target.native and target.name in wanted:
            cpus[target.arch, NATIVE] = _probe_native(sandbox, catalog, target)
    own = [target for target in catalog.targets.targets if target.name in wanted and target.c_compiler]
    missing = frozenset(target.name for target in own if not _runs(sandbox, target))
    return Abilities(cpus, versions, missing)


def _runs(sandbox: Sandbox, target: Target) -> bool:
    """Whether the target's compiler of C, which a profile brought, is there."""
    sandbox.ready_for(target)
    try:
        return bool(compiler_version(sandbox, target.c_compiler))
    except ToolError:
        return False


def _by_target(strings: Iterable[tuple[Target, str]]) -> list[tuple[Target, list[str]]]:
    grouped: dict[str, tuple[Target, list[str]]] = {}
    for target, text in strings:
        grouped.setdefault(target.name, (target, []))[1].append(text)
    return list(grouped.values())


def _probe_target(
    sandbox: Sandbox, catalog: Catalog, target: Target, strings: list[str]
) -> dict[tuple[str, str], CpuAbility]:
    table = catalog.capabilities[target.arch]
    sources = _sources(catalog.worker_root, target, table)
    key = _key(sandbox, target, sources)
    store = cache_root() / "abilities" / f"{sandbox.name}-{target.qemu}-{key}.json"
    with build_lock(f"abilities-{store.stem}"):
        known = _load(store)
        missing = [text for text in strings if text not in known]
        if missing:
            program = _build(sandbox, target, table, sources, key)
            with ThreadPoolExecutor(_PROBES_AT_ONCE) as pool:
                found = pool.map(lambda text: _probe(sandbox, [target.qemu, "-cpu", text, program]), missing)
                known |= dict(zip(missing, found, strict=True))
            _save(store, known)
    return {(target.qemu, text): known[text] for text in strings}


def _probe_native(sandbox: Sandbox, catalog: Catalog, target: Target) -> CpuAbility:
    """The machine's own CPU: tried every time, since another machine may share the cache."""
    table = catalog.capabilities[target.arch]
    sources = _sources(catalog.worker_root, target, table)
    key = _key(sandbox, target, sources)
    with build_lock(f"abilities-{sandbox.name}-{target.qemu}-{key}"):
        program = _build(sandbox, target, table, sources, key)
    try:
        return _probe(sandbox, [f"./{program}"])
    except ToolError as problem:
        return CpuAbility(False, note=problem.why)  # another architecture's machine, or one without its libc


def _sources(worker_root: Path, target: Target, table: CapabilityTable) -> dict[str, bytes]:
    arm = target.arch in ("arm32", "aarch64")
    kind = "%function" if arm else "@function"
    ret = {"arm32": "bx lr", "aarch64": "ret"}.get(target.arch, "ret")
    lines = [".text", ".arm" if target.arch == "arm32" else ""]
    rows = []
    for index, row in enumerate(table.rows):
        lines += [
            f".globl probe_{index}",
            f".type probe_{index}, {kind}",
            f"probe_{index}:",
            f"    {row.probe}",
            f"    {ret}",
        ]
        rows.append(f'{{ "{row.name}", probe_{index} }},')
    lines.append(f'.section .note.GNU-stack, "", {"%progbits" if arm else "@progbits"}')
    header = [f"void probe_{index}(void);" for index in range(len(rows))]
    header += ["static const struct { const char *name; void (*run)(void); } probes[] = {", *rows, "{ 0, 0 } };"]
    return {
        "probe.c": (worker_root / "probe" / "probe.c").read_bytes(),
        "probe.h": "\n".join([*header, ""]).encode(),
        "probes.S": "\n".join([*lines, ""]).encode(),
    }


def _key(sandbox: Sandbox, target: Target, sources: dict[str, bytes]) -> str:
    """Hash of the QEMU program itself, the compiler and the probe's sources."""
    done = sandbox.run(["sh", "-c", f'sha256sum < "$(command -v {shlex.quote(target.qemu)})"'])
    if done.status:
        raise ToolError(f"{target.qemu} not found", why=done.stderr.strip())
    state = hashlib.sha256(done.stdout.encode() + compiler_version(sandbox, target.compiler).encode())
    for name, data in sorted(sources.items()):
        state.update(name.encode() + data)
    return state.hexdigest()[:16]


def _build(sandbox: Sandbox, target: Target, table: CapabilityTable, sources: dict[str, bytes], key: str) -> str:
    """The probe's path. It is assembled with every capability allowed; C stays at the baseline."""
    folder = f"probes/{target.qemu}-{key}"
    program = f"{folder}/probe"
    discard_damaged(sandbox, [program, f"{folder}/probes.o"])
    if not sandbox.missing([program]):
        return program
    sandbox.write({f"{folder}/{name}": data for name, data in sources.items()})
    every = worker_flags(target)
    march = ""
    for row in table.rows:
        every += row.flags
        march += row.march if row.march not in march else ""
    every = [flag + march if flag.startswith("-march=") else flag for flag in every]
    base = f"{target.compiler} -I{folder}"
    failures = make(
        sandbox, folder, [Edge(f"{folder}/probes.o", f"{base} {shlex.join(every)} -c {folder}/probes.S -o {{out}}")]
    ) or make(
        sandbox,
        folder,
        [
            Edge(
                program,
                f"{base} {shlex.join([*worker_flags(target), *LINK])} -o {{out}} {folder}/probe.c {folder}/probes.o",
            )
        ],
    )
    for log in failures.values():
        raise BuildError(
            f"the capability probe of {target.arch} does not build", where="kernels/capabilities.toml", why=log
        )
    return program


def _probe(sandbox: Sandbox, argv: list[str]) -> CpuAbility:
    """What the probe says on one CPU. Raises ToolError when it fails for another reason than that QEMU has no such CPU:
    a passing lack of memory must not become a skip."""
    done = sandbox.run(argv, seconds=120)
    note = done.stderr.strip().splitlines()
    if done.status or note:
        text = plain_line(note[0]) if note else f"ends with status {done.status}"
        if not _REFUSAL.search(text):
            raise ToolError(f"{argv[0]} cannot run the capability probe", why=f"{text} ({' '.join(argv)})")
        return CpuAbility(False, note=text)
    answers = dict(line.split() for line in done.stdout.splitlines())
    return CpuAbility(True, frozenset(name for name, answer in answers.items() if answer == "yes"))


def _load(store: Path) -> dict[str, CpuAbility]:
    try:
        raw = json.loads(store.read_text())
        return {text: CpuAbility(row["starts"], frozenset(row["executes"]), row["note"]) for text, row in raw.items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return {}  # absent or damaged: probed anew


def _save(store: Path, known: dict[str, CpuAbility]) -> None:
    raw = {text: {"starts": a.starts, "executes": sorted(a.executes), "note": a.note} for text, a in known.items()}
    scratch = store.with_suffix(".tmp")
    with storing("what the emulator can do", store):
        store.parent.mkdir(parents=True, exist_ok=True)
        scratch.write_text(json.dumps(raw, indent=1))
        scratch.replace(store)
