"""Finds a browser on this machine, opens a page in it, and asks it what it supports.

    path = find_browser()
    with Browser(path, url): ...     # headless, with a profile of its own
    found = ask_browser(path)        # {"isolated": True, "webgpu": "nvidia", ...}

All processes that the browser started end with it, and its profile is removed. Functions block; any
thread may call them.

The page's address is a secret. It is not among the program's arguments, which any user of the
machine may read: it is sent through a pipe of the DevTools protocol
(https://chromedevtools.github.io/devtools-protocol/). The browser ends when this pipe is closed.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from types import TracebackType
from typing import Any

from hyperflock._execution.page_server import Content, PageServer

WAIT_S = 120.0
_POLL_S = 0.1

_NAMES = (
    *("chromium", "google-chrome", "google-chrome-stable", "chromium-browser"),
    *("microsoft-edge", "microsoft-edge-stable"),
)
_MAC = (
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
)
_PAGE = b"""<!doctype html><meta charset="utf-8"><title>Hyperflock</title><script type="module">
const told = {
  isolated: self.crossOriginIsolated === true,
  webassembly: typeof WebAssembly === "object",
  webgpu: null,
};
try {
  const adapter = await navigator.gpu?.requestAdapter();
  if (adapter) {
    const info = adapter.info ?? {};
    const software = info.isFallbackAdapter === true || /swiftshader|llvmpipe/i.test(
      [info.vendor, info.architecture, info.device, info.description].join(" "));
    told.webgpu = [info.vendor, info.architecture].filter(Boolean).join(" ") || "unnamed";
    told.software = software;
  }
} catch (error) {
  told.error = String(error).slice(0, 200);
}
await fetch("told", { method: "POST", body: JSON.stringify(told) });
</script>
"""
_POLICY = "default-src 'none'; script-src 'unsafe-inline'; connect-src 'self'"

# The exit codes of a shell that could not start a program.
NOT_STARTED = frozenset({126, 127})

_ENDING_S = 30.0
# The browser reads descriptor 3 and writes descriptor 4. The shell moves the pipes there from 0 and
# 1.
_WITH_PIPES = 'exec "$0" "$@" 3<&0 4>&1 </dev/null >/dev/null'
_OPTIONS = (
    *("--headless=new", "--no-first-run", "--no-default-browser-check", "--disable-quic"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
    *("--disable-extensions", "--disable-breakpad", "--disable-dev-shm-usage"),
    # The page can reach 127.0.0.1 only: no host's name can be looked up.
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
    # Trials would rest while the machine is busy. Here its owner waits for them.
    "--disable-blink-features=ComputePressure",
)


def find_browser(name: str | None = None) -> str | None:
    """Return the path of a Chromium, Chrome or Edge.

    It is the browser that ``name`` or ``HYPERFLOCK_BROWSER`` names. If neither is set, it is the
    first browser found on ``PATH`` or in the folders of macOS.
    """
    given = name or os.environ.get("HYPERFLOCK_BROWSER")
    if given:
        return shutil.which(given)
    for each in _NAMES:
        if found := shutil.which(each):
            return found
    return next((path for path in _MAC if os.access(path, os.X_OK)), None)


def has_graphics_card() -> bool:
    """Return whether this Linux machine has a graphics card that WebGPU could use."""
    return any(Path(device).exists() for device in ("/dev/dri", "/dev/nvidiactl"))


class Browser:
    """A headless browser that shows one page.

    Parameters
    ----------
    path
        The browser's program.
    url
        The page's address.
    software_gpu
        Whether to offer WebGPU by software on a machine without a graphics card.
    """

    def __init__(self, path: str, url: str, *, software_gpu: bool = False) -> None:
        self._home = Path(tempfile.mkdtemp(prefix="hyperflock-browser-"))
        options = [*_OPTIONS, f"--user-data-dir={self._home}"]
        if sys.platform == "linux":
            # Chromium on Linux offers WebGPU only with this option.
            options.append("--enable-unsafe-webgpu")
            if software_gpu and not has_graphics_card():
                options.append("--use-webgpu-adapter=swiftshader")
            else:
                options.append("--enable-features=Vulkan")
            if os.geteuid() == 0:
                options.append("--no-sandbox")  # as root it starts only without its sandbox
        kept = {k: v for k, v in os.environ.items() if not k.startswith("HYPERFLOCK_")}
        # These environment variables keep crash reports and caches inside the profile.
        kept |= {"XDG_CONFIG_HOME": str(self._home), "XDG_CACHE_HOME": str(self._home)}
        try:
            if (
                sys.platform == "win32"
            ):  # only administrators can read the arguments of other users' programs there
                self._process = _started([path, *options, url], kept, subprocess.DEVNULL)
            else:
                options += ["--remote-debugging-pipe", "--no-startup-window"]
                self._process = _started(
                    ["/bin/sh", "-c", _WITH_PIPES, path, *options], kept, subprocess.PIPE
                )
                self._open(url)
        except BaseException:
            shutil.rmtree(self._home, ignore_errors=True)
            raise

    def _open(self, url: str) -> None:
        asked = {"id": 1, "method": "Target.createTarget", "params": {"url": url}}
        assert self._process.stdin is not None
        # If the browser ended at once, its exit code says more than this error.
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.write(json.dumps(asked).encode() + b"\0")
            self._process.stdin.flush()

    @property
    def exit_code(self) -> int | None:
        """The exit code; one of `NOT_STARTED` if the browser never started, None while it runs."""
        return self._process.poll()

    def __enter__(self) -> Browser:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if sys.platform == "win32":
            self._process.kill()
        else:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                with contextlib.suppress(BrokenPipeError):
                    pipe.close()
        # The browser's helper processes end a moment later and may still write files.
        deadline = time.monotonic() + _ENDING_S
        while self._home.exists() and time.monotonic() < deadline:
            shutil.rmtree(self._home, ignore_errors=True)
            if self._home.exists():
                time.sleep(0.02)


def _started(
    command: list[str], environment: dict[str, str], pipes: int
) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        command,
        env=environment,
        stdin=pipes,
        stdout=pipes,
        stderr=subprocess.DEVNULL,
        # The browser has a process group of its own. So it does not receive Ctrl-C, and all its
        # processes can be ended together.
        start_new_session=True,
    )


def ask_browser(browser: str, wait_s: float = WAIT_S) -> dict[str, Any] | None:
    """Open a test page in a browser and return what it reports.

    The result is None if the browser ends first, or reports nothing within ``wait_s``.
    """
    told: list[dict[str, Any]] = []
    heard = threading.Event()

    def hear(body: bytes) -> None:
        try:
            value = json.loads(body)
        except ValueError:
            return
        if isinstance(value, dict):
            told.append(value)
            heard.set()

    def find(path: str) -> Content | None:
        return None if path else Content(_PAGE, "text/html; charset=utf-8", _POLICY)

    deadline = time.monotonic() + wait_s
    with PageServer(find, hear) as pages, Browser(browser, pages.url) as opened:
        while not heard.wait(_POLL_S) and opened.exit_code is None and time.monotonic() < deadline:
            pass
    return told[0] if told else None
