"""Tests that each kernel of Chainer 5.4.0 and 7.8.1 compiles for each dtype, and is computed
right.
"""

from __future__ import annotations

import itertools
import json
import os
import re
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import probe
import pytest
from calls import Call
from probe_engine import ProbeEngine
from samples import DTYPES, INTEGERS, Sample, check
from sites import POINTERS, UNREACHABLE, Site, direct_call, find_sites

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]
CACHE = Path(os.environ.get("HYPERFLOCK_CACHE", ROOT / "build" / "cache"))
VERSIONS = ("5.4.0", "7.8.1")
SITES = {"5.4.0": 132, "7.8.1": 142}
# The numbers of sites whose texts cannot be read from the syntax: N-d pooling, im2col and col2im,
# tree-LSTM, RMSprop; in 7.8.1 also two whose preamble is in another module.
COMPUTED = {"5.4.0": 11, "7.8.1": 13}


def wheel(version: str) -> Path:
    path = CACHE / "wheels" / f"chainer-{version}-py3-none-any.whl"
    if not path.is_file():
        pytest.fail(f"{path} is missing: gather the runtime first (./run build)")
    return path


@cache
def sites(version: str) -> list[Site]:
    return [site for site in find_sites(wheel(version)) if site.package == "chainer"]


@cache
def hooked(version: str) -> dict[str, Any]:
    """Return what ``hooked.py`` prints in a fresh process. Two Chainers cannot share a process."""
    packages = ROOT / "worker-runtime" / "python"
    six = CACHE / "downloads" / "six-1.17.0-py2.py3-none-any.whl"
    path = os.pathsep.join(str(p) for p in (packages, wheel(version), six))
    done = subprocess.run(
        [sys.executable, str(HERE / "hooked.py")],
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-4000:]
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def words(params: str) -> list[list[str]]:
    return [part.split() for part in params.split(",") if part.strip()]


def types(texts: dict[str, str], params: str, bound: dict[str, str]) -> list[str]:
    """Return the argument types; parameters that ``post_map_expr`` uses are scalars."""
    after = re.findall(r"\w+", texts.get("post_map_expr", ""))
    return [
        probe.SCALAR if w[-1] in after and w[0] != "raw" else bound.get(w[-2], w[-2])
        for w in words(params)
    ]


def compile_with(kind: str, texts: dict[str, str], bound: dict[str, str]) -> str:
    out_types = [bound.get(w[-2], w[-2]) for w in words(texts["out_params"])]
    return probe.compile_kernel(kind, texts, types(texts, texts["in_params"], bound), out_types)


def compile_everywhere(kind: str, texts: dict[str, str]) -> int:
    """Compile for every allowed dtype of every letter; return the number of kernels."""
    name = texts["name"]
    params = texts["in_params"] + "," + texts["out_params"]
    letters = sorted({w[-2] for w in words(params) if len(w[-2]) == 1})
    integers = INTEGERS.get(name, "")
    choices = [DTYPES[2:] if letter in integers else DTYPES for letter in letters]
    compiled = 0
    for combination in itertools.product(*choices):
        bound = dict(zip(letters, combination, strict=True))
        if name in POINTERS:
            with pytest.raises(probe.KernelError, match="addresses of device memory") as caught:
                compile_with(kind, texts, bound)
            assert caught.value.kind == probe.NOT_IMPLEMENTED
            continue
        assert name in compile_with(kind, texts, bound)
        compiled += 1
    return compiled


def key(site: Site) -> str:
    return f"{Path(site.file).name}:{site.line}"


@pytest.mark.parametrize("version", VERSIONS)
def test_syntax_finds_every_site(version: str) -> None:
    found = sites(version)
    assert len(found) == SITES[version]
    assert sum(site.texts is None for site in found) == COMPUTED[version]
    assert {site.kind for site in found} == {"elementwise", "reduction"}


@pytest.mark.parametrize(
    ("version", "site"),
    [pytest.param(v, s, id=f"{v}-{key(s)}") for v in VERSIONS for s in sites(v) if s.texts],
)
def test_site_compiles_for_every_dtype(version: str, site: Site) -> None:
    assert site.texts is not None
    compiled = compile_everywhere(site.kind, site.texts)
    assert (compiled > 0) == (site.texts["name"] not in POINTERS)


@pytest.mark.parametrize("version", VERSIONS)
def test_letters_that_index_refuse_floats(version: str) -> None:
    refused = set()
    for site in sites(version):
        texts = site.texts or {}
        for letter in INTEGERS.get(texts.get("name", ""), ""):
            bound = dict.fromkeys("TSIURPX", "int32") | {letter: "float32"}
            with pytest.raises(probe.KernelError, match="integer") as caught:
                compile_with(site.kind, texts, bound)
            assert caught.value.kind == probe.COMPILE_ERROR
            refused.add(texts["name"])
    absent = {n for n in INTEGERS if n.startswith("resize")} if version == "5.4.0" else set()
    assert refused == set(INTEGERS) - absent


@pytest.mark.parametrize("version", VERSIONS)
def test_gpu_paths_equal_cpu_paths(version: str) -> None:
    results: dict[str, str] = hooked(version)["results"]
    wrong = {name: end for name, end in results.items() if end != "ok"}
    assert not wrong, json.dumps(wrong, indent=1)
    assert len(results) > 160


@pytest.mark.parametrize("version", VERSIONS)
def test_every_kernel_computes_what_its_text_means_in_every_dtype(version: str) -> None:
    again: dict[str, str] = hooked(version)["again"]
    wrong = {name: end for name, end in again.items() if end != "ok"}
    assert not wrong, json.dumps(wrong, indent=1)
    assert len(again) > 560


@pytest.mark.parametrize("version", VERSIONS)
def test_hooking_reaches_every_site(version: str) -> None:
    called = [k for k in hooked(version)["kernels"] if k["calls"]]

    def reached(site: Site) -> bool:
        return any(
            k["file"] == site.file and site.line <= k["line"] <= site.end_line for k in called
        )

    missed = [site for site in sites(version) if not reached(site)]
    assert all(site.texts for site in missed), "a computed text was never made"
    names = {site.texts["name"] for site in missed if site.texts}
    assert names == POINTERS | UNREACHABLE[version]


@pytest.mark.parametrize("version", VERSIONS)
def test_sites_that_no_call_reaches_compute_what_they_say(version: str) -> None:
    called = set()
    for site in sites(version):
        if not site.texts or site.texts["name"] not in UNREACHABLE[version]:
            continue
        texts, ins, outs = direct_call(site)
        sample = Sample(Call(site.kind, texts, ins, outs))
        for bound in sample.bindings():
            check(ProbeEngine(), sample, bound)
        called.add(texts["name"])
    assert called == UNREACHABLE[version]


@pytest.mark.parametrize("version", VERSIONS)
def test_made_texts_compile_for_every_dtype(version: str) -> None:
    made = {json.dumps([k["kind"], k["texts"]], sort_keys=True) for k in hooked(version)["kernels"]}
    dimensions = set()
    for text in sorted(made):
        kind, texts = json.loads(text)
        assert compile_everywhere(kind, texts) > 0
        if texts["name"].endswith(("_1d_fwd", "_2d_fwd", "_3d_fwd")):
            dimensions.add(texts["name"])
    for n in (1, 2, 3):
        assert {f"{p}_pool_{n}d_fwd" for p in ("max", "max_index", "max_index1", "avg")} <= (
            dimensions
        )
