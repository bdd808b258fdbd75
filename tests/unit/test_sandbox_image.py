"""Recipes and names of images."""

import os
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from matrix.errors import TableError, ToolError
from matrix.model.catalog import Catalog, every_profile
from matrix.resources import data_root
from matrix.sandbox import image
from matrix.sandbox.image import Recipe, families, read_recipe

IMAGES = data_root() / "images"


def test_every_target_has_an_image_and_every_image_a_target(catalog: Catalog) -> None:
    assert {target.image for target in every_profile(catalog).targets.targets} == set(families(IMAGES))
    for family in families(IMAGES):
        assert read_recipe(IMAGES, family).default_base == "debian:bookworm-slim"


def test_the_images_install_each_targets_tools(catalog: Catalog) -> None:
    install = (IMAGES / "shared" / "install.sh").read_text()
    for target in every_profile(catalog).targets.targets:
        dockerfile = (IMAGES / target.image / "Dockerfile").read_text()
        architecture = {"arm32": "armhf", "aarch64": "arm64", "x86": "i386", "x86_64": "amd64"}[target.arch]
        assert architecture in dockerfile.split("compiler", 1)[1].splitlines()[0].split()
        assert all(package in install for package in target.packages), target.name
        if target.c_compiler:
            assert f"install.sh {target.c_compiler}\n" in dockerfile, target.name


def test_only_profiles_with_a_compiler_or_runtime_of_their_own_have_another_image(catalog: Catalog) -> None:
    plain = {target.name: target.image for target in catalog.targets.targets}
    for target in every_profile(catalog).targets.targets:
        own = target.image != plain[target.name.partition("@")[0]]
        assert own == bool(target.c_compiler or target.sanitize), target.name


def test_the_name_changes_with_everything_that_goes_in() -> None:
    recipe = Recipe("arm", {"Dockerfile": b"FROM x", "shared/a": b"1"}, "x")
    others = [
        recipe.reference("sha256:2"),
        replace(recipe, files={"Dockerfile": b"FROM y", "shared/a": b"1"}).reference("sha256:1"),
        replace(recipe, files={"Dockerfile": b"FROM x", "shared/a": b"2"}).reference("sha256:1"),
        replace(recipe, files={"Dockerfile": b"FROM x", "shared/b": b"1"}).reference("sha256:1"),
        replace(recipe, family="x86").reference("sha256:1"),
    ]
    assert recipe.reference("sha256:1") == recipe.reference("sha256:1")
    assert recipe.reference("sha256:1").startswith("capmatrix-arm:")
    assert len({recipe.reference("sha256:1"), *others}) == len(others) + 1


def test_an_unknown_family_names_the_known(tmp_path: Path) -> None:
    shutil.copytree(IMAGES, tmp_path / "images")
    with pytest.raises(TableError, match="there are arm, clang, sanitize, x86"):
        read_recipe(tmp_path / "images", "sparc")


@pytest.mark.parametrize("name", ["arm/Dockerfile", "shared/install.sh", "shared/extra"])
@pytest.mark.parametrize("kind", ["fifo", "folder", "dangling", "binary"])
def test_what_is_no_file_among_images_is_one_error(tmp_path: Path, name: str, kind: str) -> None:
    shutil.copytree(IMAGES, tmp_path / "images")
    path = tmp_path / "images" / name
    path.unlink(missing_ok=True)
    if kind == "fifo":
        os.mkfifo(path)
    elif kind == "folder":
        path.mkdir()
    elif kind == "dangling":
        path.symlink_to("nowhere")
    else:
        path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(TableError) as caught:
        read_recipe(tmp_path / "images", "arm")
    assert str(path) in caught.value.where


def test_an_editors_hidden_file_is_no_part_of_an_image(tmp_path: Path) -> None:
    shutil.copytree(IMAGES, tmp_path / "images")
    before = read_recipe(tmp_path / "images", "arm")
    (tmp_path / "images" / "shared" / ".#install.sh").symlink_to("user@machine.1")
    assert read_recipe(tmp_path / "images", "arm") == before


def test_a_dockerfile_has_to_name_its_base(tmp_path: Path) -> None:
    shutil.copytree(IMAGES, tmp_path / "images")
    (tmp_path / "images" / "arm" / "Dockerfile").write_text("FROM debian\n")
    with pytest.raises(TableError, match="ARG BASE="):
        read_recipe(tmp_path / "images", "arm")


def test_the_builders_words_are_told_and_its_error_is_raised() -> None:
    told: list[str] = []
    records = [{"stream": "Step 1/2 : FROM x\n"}, {"stream": "noise\n"}, {"status": "x"}, {"error": "exit 100"}]
    with pytest.raises(ToolError, match="noise\nexit 100"):
        image._follow(records, told.append)
    assert told == ["Step 1/2 : FROM x"]
