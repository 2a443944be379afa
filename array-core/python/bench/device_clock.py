"""Measures the time of one launch by a device's own clock, for the benchmarks of this folder.

Launches are issued in one batch, and nothing is read back while they run.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable

import arraycore as ac

LAUNCHES = 200
WARM_UP = 4000  # an idle device takes a part of a second to reach its full clock rate

TURNS = 5  # of each function that is compared

Run = Callable[[], object]
#: Takes a number of elements. Returns a function that launches once, and a function that ends the
#: program if the result is wrong.
Bench = Callable[[int], tuple[Run, Callable[[], None]]]


def nanoseconds(bench: Bench, elements: int) -> float:
    """Return how many nanoseconds one launch takes.

    Raises
    ------
    SystemExit
        The number of launches on the device is wrong, something was read back, or the result is
        wrong.
    """
    launch, check = bench(elements)
    for _ in range(WARM_UP):
        launch()
    with ac.device_timer():  # creates what reading the clock needs
        launch()
    check()
    before = ac.counters()
    with ac.device_timer() as time:
        for _ in range(LAUNCHES):
            launch()
    after = ac.counters()
    if after["dispatches"] - before["dispatches"] != LAUNCHES or after["cpu_ops"] > 0:
        raise SystemExit("Not every turn was one launch on the device.")
    if after["bytes_down"] != before["bytes_down"]:
        raise SystemExit("Something was read back.")
    check()
    return time.nanoseconds / LAUNCHES


def speeds(runs: dict[str, Run], flop: float, launches: int) -> dict[str, float]:
    """Return the best speed of each run in 10**9 operations per second. The runs take turns."""
    best = dict.fromkeys(runs, 0.0)
    for _ in range(TURNS):
        for name, run in runs.items():
            run()
            with ac.device_timer() as time:
                for _ in range(launches):
                    run()
            best[name] = max(best[name], flop * launches / time.nanoseconds)
    return best


def main(
    what: str, bench: Bench, first: str, figures_of: Callable[[int, float], dict[str, float]]
) -> None:
    """Measure with the number of elements from the command line, and print one JSON object.

    Parameters
    ----------
    what : str
        What is measured, for ``--help``.
    bench : callable
        See :data:`Bench`.
    first : str
        The figure that is null, with a reason, if the device is unsuitable.
    figures_of : callable
        Returns the figures, from the number of elements and the nanoseconds of a launch.
    """
    parser = argparse.ArgumentParser(description=what)
    parser.add_argument("--elements", type=int, default=10_000_000)
    elements = parser.parse_args().elements
    device = ac.device_info()
    figures: dict[str, object] = {"device": device.name, "elements": elements}
    if device.name == "cpu":
        raise SystemExit("This measures a device: run it with --backend webgpu.")
    if device.is_software:
        figures |= {first: None, "reason": "The device is a program on the CPU."}
    elif not device.has_clock:
        figures |= {first: None, "reason": "The device has no clock."}
    else:
        figures |= figures_of(elements, nanoseconds(bench, elements))
    print(json.dumps(figures))
