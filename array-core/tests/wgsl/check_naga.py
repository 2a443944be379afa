"""Check every shader that ``wgsl_cases`` wrote with naga, a second WGSL compiler.

Usage: ``python check_naga.py FOLDER``. Needs PyPI's ``wgpu`` and a Vulkan driver. If the machine
has no graphics card, Chromium's software driver is enough to compile.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

SOFTWARE_VULKAN = "/usr/lib/chromium/vk_swiftshader_icd.json"
if not any(Path(card).exists() for card in ("/dev/dri", "/dev/nvidiactl")):
    os.environ.setdefault("VK_ICD_FILENAMES", SOFTWARE_VULKAN)  # before the library looks

import wgpu  # noqa: E402


def refuses_nonsense(device: wgpu.GPUDevice) -> bool:
    """Return whether the driver refuses invalid code. If it accepts all code, it tests nothing."""
    try:
        device.create_shader_module(code="fn main() -> i32 { return 1.5; }")
    except wgpu.GPUError:
        return True
    return False


def main() -> int:
    """Compile each distinct text; print those that naga refuses."""
    cases = json.loads((Path(sys.argv[1]) / "cases.json").read_text(encoding="utf-8"))
    texts = {stage["text"]: case["name"] for case in cases for stage in case["stages"]}
    adapter = wgpu.gpu.request_adapter_sync(power_preference="low-power")
    device = adapter.request_device_sync()
    if not refuses_nonsense(device):
        print("naga takes a function that returns another type than it says.")
        return 1
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
