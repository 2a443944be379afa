"""What a browser of this machine can do: finds one and lets it open a page that tells.

    path = find_browser()
    found = ask_browser(path)        # {"isolated": True, "webgpu": "nvidia", ...}

The page is served on loopback by this process, isolated as the join page is, to a headless browser
with a profile of its own that is removed afterwards. Blocking; the calling thread and one of the
little server's.
"""

from __future__ import annotations

import http.server
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
from pathlib import Path
from typing import Any

WAIT_S = 40.0

_NAMES = (
    *("chromium", "google-chrome", "google-chrome-stable", "chromium-browser"),
    *("microsoft-edge", "microsoft-edge-stable"),
)
_MAC = (
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
)
_MAX_ANSWER_BYTES = 4096
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
await fetch("/told", { method: "POST", body: JSON.stringify(told) });
</script>
"""


def find_browser() -> str | None:
    """Find a Chromium, Chrome or Edge: ``HYPERFLOCK_BROWSER``, else in ``PATH``, else macOS's."""
    given = os.environ.get("HYPERFLOCK_BROWSER")
    if given:
        return shutil.which(given)
    for name in _NAMES:
        if found := shutil.which(name):
            return found
    return next((path for path in _MAC if os.access(path, os.X_OK)), None)


def ask_browser(browser: str, wait_s: float = WAIT_S) -> dict[str, Any] | None:
    """Open the page in a browser; what it told, None when it told nothing in time."""
    told: list[dict[str, Any]] = []
    heard = threading.Event()

    class Page(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._answer(200, _PAGE if self.path == "/" else b"")

        def do_POST(self) -> None:
            size = min(int(self.headers.get("Content-Length", "0")), _MAX_ANSWER_BYTES)
            try:
                value = json.loads(self.rfile.read(size))
            except ValueError:
                value = None
            self._answer(204, b"")
            if isinstance(value, dict):
                told.append(value)
                heard.set()

        def _answer(self, status: int, body: bytes) -> None:
            self.send_response(status)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.send_header("Content-Length", str(len(body)))
            self.send_header("Cross-Origin-Opener-Policy", "same-origin")
            self.send_header("Cross-Origin-Embedder-Policy", "require-corp")
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *arguments: object) -> None:
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Page)
    serving = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    serving.start()
    try:
        with tempfile.TemporaryDirectory(prefix="hyperflock-", ignore_cleanup_errors=True) as home:
            process = _open(browser, f"http://127.0.0.1:{server.server_port}/", Path(home))
            try:
                heard.wait(wait_s)
            finally:
                process.kill()
                process.wait()
    finally:
        server.shutdown()
        server.server_close()
    return told[0] if told else None


def _open(browser: str, url: str, home: Path) -> subprocess.Popen[bytes]:
    options = [
        *("--headless=new", f"--user-data-dir={home}", "--no-first-run", "--disable-quic"),
        *("--disable-background-networking", "--disable-component-update"),
    ]
    if sys.platform == "linux":
        # Chromium on Linux offers WebGPU only when asked to.
        options += ["--enable-unsafe-webgpu", "--enable-features=Vulkan"]
        if os.geteuid() == 0:
            options.append("--no-sandbox")  # it does not start as root with it
    return subprocess.Popen(
        [browser, *options, url],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
