"""Runs every kernel of Chainer on arraycore, in the worker runtime or natively.

    ./run python --backend webgpu --wheel CHAINER_WHEEL run_kernels.py --version 5.4.0

Chainer's functions, links and optimizers run on the stand-in ``cupy``, whose kernels are
arraycore's ``ElementwiseKernel`` and ``ReductionKernel``. The results are compared with Chainer's
own CPU path. Then each kernel runs in float16, float32, int32 and int64, if its type letters allow,
and is compared with a Python version of its C++ (``meaning.py``). A site is where Chainer makes a
kernel. It counts if all of this was right and each call was one launch without help of the CPU. The
last line has the number of sites that count. The exit code is 0 if all sites count, or with
``--every`` all sites that the sample of scenarios reached.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from pathlib import Path
from typing import Any

import hooked
import judge
import numpy as np
import pointers
import stand_in
from calls import Call
from device_engine import DeviceEngine
from samples import DTYPES, Sample, check, retype
from sites import POINTERS, UNREACHABLE, Site, direct_call, find_sites

import chainer  # isort: skip

Outcome = dict[str, str]  # what was run -> "ok", or what went wrong


def outcomes(engine: DeviceEngine, dtypes: tuple[str, ...], short: bool) -> Outcome:
    """Run the scenarios; unless ``short``, then run every kernel that they made, in each dtype."""
    judge.SKIPPED = {"float16"} - {*dtypes}
    hooked.scenarios()
    print(f"{len(judge.RESULTS)} scenarios, {engine.launches} launches", flush=True)
    if short:
        return judge.RESULTS
    again = retype(engine, stand_in.RECORDS, dtypes)
    print(f"{len(again)} kernels by dtype", flush=True)
    return {**judge.RESULTS, **again}


def of_site(site: Site, found: Outcome) -> Outcome:
    """Return the results of the runs that used the kernel of a site."""
    mine: Outcome = {}
    for record in stand_in.RECORDS:
        if record.file == site.file and site.line <= record.line <= site.end_line:
            mine |= {name: found[name] for name in record.scenarios}
            start = f"{record.file}:{record.line} "
            mine |= {name: end for name, end in found.items() if name.startswith(start)}
    return mine


def directly(site: Site, engine: DeviceEngine, dtypes: tuple[str, ...]) -> Outcome:
    """Run the kernels of a site that these tests do not reach by a call of Chainer.

    Return the results.
    """
    assert site.texts is not None
    name = site.texts["name"]
    ends: Outcome = {}
    if name in pointers.PATHS:
        run, allowed = pointers.PATHS[name]
        tests: list[tuple[str, Any]] = [(d, lambda d=d: run(d)) for d in dtypes if d in allowed]
    else:
        texts, ins, outs = direct_call(site)
        sample = Sample(Call(site.kind, texts, ins, outs))
        tests = [(str(b), lambda b=b: check(engine, sample, b)) for b in sample.bindings(dtypes)]
    for label, test in tests:
        try:
            test()
            ends[f"{name} {label}"] = "ok"
        except Exception as error:
            ends[f"{name} {label}"] = f"{type(error).__name__}: {str(error)[:400]}"
    return ends


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--version", required=True, help="the Chainer that is expected")
    parser.add_argument("--short", action="store_true", help="scenarios alone, in float32")
    parser.add_argument(
        "--every", type=int, default=1, help="about one scenario in this many, always the same ones"
    )
    parser.add_argument("--label", help="stands in the figure's name, in place of the back end's")
    parser.add_argument("--report", type=Path, help="a JSON file with what ran of each site")
    options = parser.parse_args(arguments)
    if chainer.__version__ != options.version:
        raise SystemExit(f"this is Chainer {chainer.__version__}, not {options.version}")
    if options.every < 1:
        parser.error("--every takes a number from 1")
    judge.EVERY = options.every
    began = time.monotonic()
    dtypes = ("float32",) if options.short else DTYPES
    engine = stand_in.STATE.engine = DeviceEngine()
    with np.errstate(all="ignore"):
        found = outcomes(engine, dtypes, options.short)
        package = Path(chainer.__file__).parent
        places = find_sites(package if package.is_dir() else package.parent)  # else a wheel
        sites = [site for site in places if site.package == "chainer"]
        report = []
        for site in sites:
            ends = of_site(site, found)
            alone = site.texts and site.texts["name"] in POINTERS | UNREACHABLE[options.version]
            if site.texts and alone and judge.in_sample(site.texts["name"]):
                ends |= directly(site, engine, dtypes)
            if options.every > 1 and not ends:
                continue
            report.append({"file": site.file, "line": site.line, "ran": ends})
    good = [one for one in report if one["ran"] and set(one["ran"].values()) == {"ok"}]
    for one in report:
        if one not in good:
            print(f"{one['file']}:{one['line']}: {len(one['ran'])} runs")
            found |= one["ran"]
    wrong = {name: end for name, end in found.items() if end != "ok"}
    for name, end in wrong.items():
        print(f"  {name}: {end}")
    if options.report:
        options.report.write_text(json.dumps(report, indent=1))
    label = options.label or os.environ.get("ARRAYCORE_BACKEND", "cpu")
    seconds = time.monotonic() - began
    print(
        f"{len(good)} of {len(report)} sites; {engine.launches} launches, {engine.on_cpu} of them "
        f"with float64; {seconds:.1f} s"
    )
    print(json.dumps({f"chainer_kernels_{label}_{options.version}": len(good)}))
    return 0 if good and len(good) == len(report) and not wrong else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
