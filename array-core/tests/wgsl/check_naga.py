"""Check every shader that ``wgsl_cases`` wrote with naga, a second WGSL compiler.

Usage: ``python check_naga.py FOLDER``. Needs PyPI's ``wgpu`` and a Vulkan driver.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import wgpu


def main() -> int:
    """Compile each distinct text; print those that naga refuses."""
    cases = json.loads((Path(sys.argv[1]) / "cases.json").read_text(encoding="utf-8"))
    texts = {stage["text"]: case["name"] for case in cases for stage in case["stages"]}
    adapter = wgpu.gpu.request_adapter_sync(power_preference="low-power")
    device = adapter.request_device_sync()
    failed = 0
    for text, name in texts.items():
        try:
            device.create_shader_module(code=text)
        except wgpu.GPUError as error:
            failed += 1
            if failed <= 10:
                print(f"FAILED {name}: {error}")
    version = getattr(wgpu, "__version__", "?")
    print(f"naga by wgpu {version}: {len(texts) - failed} passed, {failed} failed")
    return 0 if texts and failed == 0 else 1


if __name__ == "__main__":
    sys.exit(main())
