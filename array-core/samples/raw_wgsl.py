"""Counts how often each byte value occurs in a NumPy array, by a compute shader in WGSL.

    ./run python --backend webgpu --mount array-core/python array-core/samples/raw_wgsl.py [BYTES]

The memory of the NumPy array is uploaded as it is, with four bytes in a word. Each workgroup counts
in its own fast memory and adds its counts to the result once.
"""

from __future__ import annotations

import argparse

import arraycore as ac
import numpy as np
import numpy.typing as npt

WORDS_OF_A_GROUP = 1024

HISTOGRAM = ac.RawKernel(
    f"""
struct Input {{ count: u32 }}  // bytes
@group(0) @binding(0) var<uniform> input: Input;
@group(0) @binding(1) var<storage, read> words: array<u32>;
@group(0) @binding(2) var<storage, read_write> totals: array<atomic<u32>, 256>;

var<workgroup> counts: array<atomic<u32>, 256>;

@compute @workgroup_size(64)
fn histogram(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_index) lane: u32) {{
  let first = group.x * {WORDS_OF_A_GROUP}u;
  for (var w = lane; w < {WORDS_OF_A_GROUP}u; w += 64u) {{
    for (var b = 0u; b < 4u; b += 1u) {{
      if ((first + w) * 4u + b < input.count) {{
        atomicAdd(&counts[(words[first + w] >> (8u * b)) & 255u], 1u);
      }}
    }}
  }}
  workgroupBarrier();
  for (var value = lane; value < 256u; value += 64u) {{
    atomicAdd(&totals[value], atomicLoad(&counts[value]));
  }}
}}""",
    "histogram",
)


def histogram(data: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint32]:
    """Return how often each of the 256 values occurs in ``data``.

    Raises
    ------
    NotImplementedError
        The back end is not WebGPU.
    """
    totals = ac.zeros(256, "uint32")
    groups = -(-data.size // (4 * WORDS_OF_A_GROUP))
    HISTOGRAM((groups,), (data.size, data, totals))
    return totals.get()


def main(size: int = 1_000_000) -> None:
    """Count random bytes on the device and compare with NumPy."""
    data = np.random.default_rng(0).integers(0, 256, size, dtype=np.uint8)
    before = ac.counters()
    try:
        counted = histogram(data)
    except NotImplementedError as error:
        raise SystemExit(str(error)) from None
    after = ac.counters()
    up, launches = (after[name] - before[name] for name in ("bytes_up", "dispatches"))
    print(f"{size} bytes: {up} bytes went up, {launches} launch")
    equal = np.array_equal(counted, np.bincount(data, minlength=256))
    print("equal to NumPy's counts" if equal else "NumPy counts otherwise")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="A histogram by a kernel of one's own in WGSL.")
    parser.add_argument("size", type=int, nargs="?", default=1_000_000, help="random bytes")
    main(parser.parse_args().size)
