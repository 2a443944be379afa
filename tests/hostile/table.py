"""Lists the attacks, each with the end that it must have. The test runs this table row by row.

``complete`` is the end of an attack that does no harm: it found every way closed and returned 0.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import device
import endless
import floods
import forgeries
import learns
import memory
import network
import runtime
import storage
import threads

DONE = "complete"
RAISED = "user_error objective_raised"
TIME = "timeout time_limit"
MEMORY = "out_of_memory out_of_memory"
VIOLATION = "invalid channel_violation"
MALFORMED = "invalid outcome_malformed"
CRASHED = "device_lost runtime_crashed"


@dataclass(frozen=True)
class Attempt:
    """One row of the table.

    Attributes
    ----------
    objective : callable
        The code of the trial.
    end : str
        ``complete``, or the cause and the code of the failure.
    short : bool
        Whether `./run test` runs it too.
    backend : str or None
        The back end that the study asks for. After each attempt, another study's trial checks
        that nothing was left behind; it asks for the same back end.
    """

    objective: Callable[[Any], Any]
    end: str = DONE
    short: bool = False
    backend: str | None = None
    trials: int = 1

    @property
    def name(self) -> str:
        """The names of the objective's module and function."""
        return f"{self.objective.__module__}.{self.objective.__name__}"


ATTEMPTS = (
    Attempt(network.fetches, short=True),
    Attempt(network.xml_http_request),
    Attempt(network.web_socket),
    Attempt(network.event_source),
    Attempt(network.beacon),
    Attempt(network.web_rtc),
    Attempt(network.web_transport),
    Attempt(network.import_scripts),
    Attempt(network.dynamic_import),
    Attempt(network.javascript_text),
    Attempt(network.images_and_fonts),
    Attempt(network.python_sockets),
    Attempt(network.packages),
    Attempt(network.own_origin),
    Attempt(network.messages),
    Attempt(storage.indexed_db, short=True),
    Attempt(storage.cache_storage),
    Attempt(storage.private_files),
    Attempt(storage.cookies),
    Attempt(storage.device_token),
    Attempt(learns.surroundings, short=True),
    Attempt(learns.clock),
    Attempt(learns.goes_on, short=True, trials=3),
    Attempt(runtime.poison_python, RAISED, short=True),
    Attempt(runtime.poison_modules),
    Attempt(runtime.poison_javascript, VIOLATION),
    Attempt(runtime.poison_atomics),
    Attempt(runtime.previous_files, short=True),
    Attempt(runtime.previous_memory),
    Attempt(runtime.lingers),
    Attempt(threads.workers, short=True),
    Attempt(threads.worklets),
    Attempt(threads.processes),
    Attempt(threads.closes_itself),
    Attempt(threads.exits, RAISED),
    Attempt(threads.exits_at_once, CRASHED),
    Attempt(threads.aborts, CRASHED),
    Attempt(threads.recurses, RAISED),
    Attempt(threads.recurses_below),
    Attempt(threads.throws_later),
    Attempt(device.other_ways, short=True, backend="webgpu"),
    Attempt(device.previous_arrays, backend="webgpu"),
    Attempt(device.spoils_memory, backend="webgpu"),
    Attempt(device.rings, VIOLATION, backend="webgpu"),
    Attempt(device.device_memory, MEMORY, backend="webgpu"),
    Attempt(device.broken_shader, backend="webgpu"),
    Attempt(endless.python_loop, TIME),
    Attempt(endless.ignores_interrupts, TIME),
    Attempt(endless.pattern, TIME, short=True),
    Attempt(endless.long_call, TIME),
    Attempt(endless.atomics_wait, TIME),
    Attempt(endless.sleeps, TIME),
    Attempt(endless.iterates, TIME),
    Attempt(memory.python_memory, MEMORY),
    Attempt(memory.numpy_memory, MEMORY),
    Attempt(memory.webassembly_memory, RAISED, short=True),
    Attempt(memory.array_buffers, RAISED),
    Attempt(floods.calls, VIOLATION),
    Attempt(floods.large_calls, RAISED),
    Attempt(floods.prunes),
    Attempt(floods.reports),
    Attempt(floods.lines),
    Attempt(floods.endless_line),
    Attempt(forgeries.points_past_the_window, VIOLATION, short=True),
    Attempt(forgeries.result_of_another),
    Attempt(forgeries.call_for_another),
    Attempt(forgeries.values_of_another_kind, "invalid metric_not_number"),
    Attempt(forgeries.not_a_number, "invalid metric_not_finite"),
    Attempt(forgeries.false_outcome, MALFORMED),
    Attempt(forgeries.large_outcome, MALFORMED),
    Attempt(forgeries.large_exception, RAISED),
    Attempt(forgeries.odd_characters, RAISED),
    Attempt(forgeries.broken_exception, RAISED),
    Attempt(forgeries.false_pruning, RAISED),
)
