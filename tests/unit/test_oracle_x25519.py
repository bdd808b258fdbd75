"""The two models of X25519 agree, and the edges are what they say they are."""

from itertools import islice
from pathlib import Path
from types import GeneratorType

import pytest
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from hypothesis import given, settings
from hypothesis import strategies as st

from matrix.cases.corpus import own_edges
from matrix.cases.x25519_edges import (
    CURVE_ORDER,
    ORDER_8,
    RADICES,
    TWIST_ORDER,
    edges,
    limb_values,
    point_to,
    results,
)
from matrix.cases.x25519_steps import FIRST_STEP, carried_values, multiples_that_carry, point_doubled_to
from matrix.model.interface import load_interface
from matrix.oracles import pyca_x25519, spec_x25519
from matrix.oracles.registry import models
from matrix.oracles.spec_x25519 import A24, P, decode_scalar, ladder

INTERFACE = load_interface(Path(__file__).parents[2] / "kernels/x25519/x25519.toml")
ANY = st.binary(min_size=32, max_size=32)
NEAR = st.integers(-40, 40).flatmap(lambda k: st.sampled_from([k % P, P + k % 19, (1 << 255) - 1 - abs(k)]))
POINTS = ANY | NEAR.map(lambda u: u.to_bytes(32, "little"))
NINE = (9).to_bytes(32, "little")


@settings(max_examples=60, deadline=None)
@given(scalar=ANY, point=POINTS)
def test_models_agree(scalar: bytes, point: bytes) -> None:
    assert pyca_x25519.x25519_scalarmult(scalar, point) == spec_x25519.x25519_scalarmult(scalar, point)


def test_the_registry_finds_both_models_and_the_edges() -> None:
    assert len(models(INTERFACE, "scalarmult")) == 2
    found = own_edges(INTERFACE)
    assert isinstance(found, GeneratorType)
    assert found.gi_code is edges.__code__
    assert len({draft.name for draft in islice(found, 40)}) == 40, "each is computed, and there are many more"


@pytest.mark.parametrize("point", [0, 1, P - 1, P, P + 1, *ORDER_8])
def test_points_of_low_order_give_zero_where_cryptography_refuses(point: int) -> None:
    raw = point.to_bytes(32, "little")
    assert pyca_x25519.x25519_scalarmult(NINE, raw) == {"out": bytes(32)}
    with pytest.raises(ValueError, match="computing shared key"):
        X25519PrivateKey.from_private_bytes(NINE).exchange(X25519PublicKey.from_public_bytes(raw))


def test_a_refusal_that_is_no_zero_is_not_hidden() -> None:
    with pytest.raises(ValueError, match="32 bytes"):
        pyca_x25519.x25519_scalarmult(bytes(31), NINE)


def test_iterated_by_both_models() -> None:
    """RFC 7748 5.2: after 1 and after 1,000 iterations."""
    for model, iterations, expected in (
        (spec_x25519, 1, "422c8e7a6227d7bca1350b3e2bb7279f7897b87bb6854b783c60e80311ae3079"),
        (pyca_x25519, 1000, "684cf59ba83309552800ef566f2f4d3c1c3887c49360e3875f2eb94d99532c51"),
    ):
        scalar = point = NINE
        for _ in range(iterations):
            scalar, point = model.x25519_scalarmult(scalar, point)["out"], scalar
        assert scalar.hex() == expected


def test_orders_of_curve_and_twist() -> None:
    assert 8 * CURVE_ORDER + 4 * TWIST_ORDER == 2 * (P + 1)
    assert ladder(CURVE_ORDER, 9) == 0
    assert ladder(TWIST_ORDER + 1, 16) == 16 or ladder(CURVE_ORDER + 1, 16) == 16
    assert all(sum(sizes) >= 255 for sizes in RADICES.values())


def test_chosen_results_come_out() -> None:
    scalar = bytes(range(32))
    reached = 0
    for result in results().values():
        point = point_to(result, scalar)
        if point is not None:
            reached += 1
            assert ladder(decode_scalar(scalar), point) == result
    assert reached >= 12


def test_points_that_double_to_a_chosen_sum() -> None:
    found = [(value, point_doubled_to(value)) for value in range(40)]
    for value, u in found:
        if u is not None:
            aa, bb = (u + 1) ** 2, (u - 1) ** 2
            assert (aa + A24 * (aa - bb)) % P == value
    assert sum(u is not None for _, u in found) > 8


def test_the_first_step_has_the_values_that_its_points_were_solved_for() -> None:
    for name, solve in FIRST_STEP.items():
        found = 0
        for value in (limb_values() | carried_values()).values():
            u = solve(value % P)
            if u is not None:
                aa, bb = (u + 1) ** 2 % P, (u - 1) ** 2 % P
                e = (aa - bb) % P
                step = {"aa": aa, "bb": bb, "e": e, "s": (aa + A24 * e) % P, "x2": aa * bb % P, "x3": 4 * u * u % P}
                assert step[name] == value % P
                found += 1
        assert found > 8, name


def test_adding_up_the_words_of_a24_e_carries() -> None:
    for name, value in multiples_that_carry():
        words = [value >> 64 * place & (1 << 64) - 1 for place in range(4)]
        low, high = [A24 * word % (1 << 64) for word in words], [A24 * word >> 64 for word in words]
        carries = {place for place in (1, 2, 3) if low[place] + high[place - 1] >> 64}
        assert carries == ({1, 2} if "all" in name else {int(name.split("-")[1])})
