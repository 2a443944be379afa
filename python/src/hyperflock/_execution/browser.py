"""A browser of this machine: finds one, opens a page in it, ends it, asks it what it can.

    path = find_browser()
    with Browser(path, url): ...     # headless, with a profile of its own
    found = ask_browser(path)        # {"isolated": True, "webgpu": "nvidia", ...}

Whatever the browser started ends with it, and its profile is removed. Blocking; any thread.

The page's address is a secret, and a program's arguments are no place for one: any user of the
machine may read them. The browser is told by a pipe of the DevTools protocol
(https://chromedevtools.github.io/devtools-protocol/), and ends by itself once that is closed.
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

# The shell's codes for a program that is none.
NOT_STARTED = frozenset({126, 127})

_ENDING_S = 30.0
# A shell gives the two ends that it has as 0 and 1 the numbers that the browser looks for.
_WITH_PIPES = 'exec "$0" "$@" 3<&0 4>&1 </dev/null >/dev/null'
_OPTIONS = (
    *("--headless=new", "--no-first-run", "--no-default-browser-check", "--disable-quic"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
    *("--disable-extensions", "--disable-breakpad", "--disable-dev-shm-usage"),
    # Whatever a page might ask of another host cannot even be looked up.
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
)


def find_browser(name: str | None = None) -> str | None:
    """Find a Chromium, Chrome or Edge.

    The one that is named, or that ``HYPERFLOCK_BROWSER`` names; else in ``PATH``, else macOS's.
    """
    given = name or os.environ.get("HYPERFLOCK_BROWSER")
    if given:
        return shutil.which(given)
    for each in _NAMES:
        if found := shutil.which(each):
            return found
    return next((path for path in _MAC if os.access(path, os.X_OK)), None)


def has_graphics_card() -> bool:
    """Whether Linux knows a card that WebGPU could use."""
    return any(Path(device).exists() for device in ("/dev/dri", "/dev/nvidiactl"))


class Browser:
    """A headless browser that opens one page.

    Parameters
    ----------
    path
        The program.
    url
        The page.
    software_gpu
        WebGPU by a program where this machine has no card.
    """

    def __init__(self, path: str, url: str, *, software_gpu: bool = False) -> None:
        self._home = Path(tempfile.mkdtemp(prefix="hyperflock-browser-"))
        options = [*_OPTIONS, f"--user-data-dir={self._home}"]
        if sys.platform == "linux":
            # Chromium on Linux offers WebGPU only when asked to.
            options.append("--enable-unsafe-webgpu")
            if software_gpu and not has_graphics_card():
                options.append("--use-webgpu-adapter=swiftshader")
            else:
                options.append("--enable-features=Vulkan")
            if os.geteuid() == 0:
                options.append("--no-sandbox")  # it does not start as root with it
        kept = {k: v for k, v in os.environ.items() if not k.startswith("HYPERFLOCK_")}
        # Its crash reports and the like go with the profile.
        kept |= {"XDG_CONFIG_HOME": str(self._home), "XDG_CACHE_HOME": str(self._home)}
        try:
            if (
                sys.platform == "win32"
            ):  # there only administrators see what others were called with
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
        # One that ended at once has an exit code, which tells more.
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.write(json.dumps(asked).encode() + b"\0")
            self._process.stdin.flush()

    @property
    def exit_code(self) -> int | None:
        """Of a browser that has ended, in `NOT_STARTED` where it never began; None: it runs."""
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
        # Its helpers die a moment later than it does, and may still write meanwhile.
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
        # A group of its own: Ctrl-C is this process's, and all of it can be ended.
        start_new_session=True,
    )


def ask_browser(browser: str, wait_s: float = WAIT_S) -> dict[str, Any] | None:
    """Open a page in a browser; what it told, None when it told nothing in time."""
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

    with PageServer(find, hear) as pages, Browser(browser, pages.url):
        heard.wait(wait_s)
    return told[0] if told else None
