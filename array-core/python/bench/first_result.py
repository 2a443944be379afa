"""Measures how long a page waits for array-core's first result after Pyodide has started.

    ./run python --host chromium --backend webgpu array-core/python/bench/first_result.py

The time begins just before the module is compiled and linked (a mark of the worker runtime), and
ends when the elements of ``a + b`` are in Python. So it contains the first use of module, package,
device, adapter, shader and readback. Prints one JSON object with seconds.
"""

import json
import time

began = time.perf_counter()

import js  # noqa: E402  (Pyodide's; nothing is imported before the clock runs)

now_ms = js.performance.now()
marked_ms = js.performance.getEntriesByName("arraycore-load")[0].startTime

import numpy as np  # noqa: E402

numpy_s = time.perf_counter() - began

import arraycore as ac  # noqa: E402

a = ac.array(np.ones(1_000, np.float32))
total = (a + a).get()
script_s = time.perf_counter() - began
if not (total == 2).all():
    raise SystemExit("The first result is wrong.")
if ac.counters()["dispatches"] != 1 or ac.counters()["cpu_ops"] != 0:
    raise SystemExit("The first result is not the device's.")
print(
    json.dumps(
        {
            # The import of NumPy is left out, because it belongs to Pyodide's start.
            "first_result_s": round((now_ms - marked_ms) / 1e3 + script_s - numpy_s, 3),
            "numpy_s": round(numpy_s, 3),
        }
    )
)
