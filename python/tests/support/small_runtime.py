"""Creates pages and runtime files of a few bytes with their lists, and a fake browser.

built = SmallRuntime(tmp_path / "built")
server.built = built.folder
browser = fake_browser(tmp_path, '[{"kind": "running"}]')
"""

from __future__ import annotations

import hashlib
import json
import stat
import sys
from pathlib import Path

PAGE = "app/local/page-Abc_-1.js"
THREAD = "app/local/python-thread-x.js"
ARCHIVE = "runtime/six-12/six.zip"
RARE = "runtime/rare-34/rare.zip"

# This program opens the page as a browser does, stores what it gets, and posts the test's messages.
_BROWSER = """#!{python}
import json, os, sys, time, urllib.request
url = json.loads(os.read(3, 9999).rstrip(b"\\0"))["params"]["url"]
(profile,) = (a.split("=", 1)[1] for a in sys.argv if a.startswith("--user-data-dir="))
def get(path):
    return urllib.request.urlopen(url + path).read()
page = get("").decode()
get(page.split('src="')[1].split('"')[0])
job = json.loads(get("job"))
lease = job["lease"]["lease"]
blobs = [get("blob/" + item["sha256"]) for item in [lease["bundle"], *lease["data"]]]
with open({seen!r}, "w") as file:
    json.dump({{"pid": os.getpid(), "profile": profile, "lease": lease, "argv": sys.argv,
               "url": url,
               "opened": job["opened"], "bytes": [len(blob) for blob in blobs]}}, file)
for message in json.loads({told!r}):
    urllib.request.urlopen(url + "told", data=json.dumps(message).encode())
if {stays!r}:
    time.sleep(600)
raise SystemExit(7)
"""


class SmallRuntime:
    """Creates the files, and the lists that name them, in one folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.files = {
            PAGE: b"// the page",
            THREAD: b"// the thread",
            ARCHIVE: b"an archive",
            RARE: b"what few trials need",
        }
        for path, content in self.files.items():
            self.path(path).parent.mkdir(parents=True, exist_ok=True)
            self.path(path).write_bytes(content)
        six = {"version": "1", "base": "/runtime/six-12/", "files": [self._entry(ARCHIVE)]}
        rare = {"version": "1", "base": "/runtime/rare-34/", "files": [self._entry(RARE)]}
        index = {"runtime": "a" * 64, "pieces": {"six": six, "rare": rare}}
        self.path("runtime/index.json").write_text(json.dumps(index))
        scripts = [self._entry(PAGE), self._entry(THREAD)]
        pages = {"schema": 1, "page": Path(PAGE).name, "base": "/app/local/", "files": scripts}
        self.path("local-run.json").write_text(json.dumps(pages))

    def path(self, path: str) -> Path:
        """Return where the file of a URL path lies in the folder."""
        return self.folder / path if path.startswith("runtime/") else self.folder / "web" / path

    def hash_of(self, path: str) -> str:
        return hashlib.sha256(self.files[path]).hexdigest()

    def _entry(self, path: str) -> dict[str, object]:
        size = len(self.files[path])
        return {"name": Path(path).name, "sha256": self.hash_of(path), "bytes": size}


def fake_browser(folder: Path, told: object, *, stays: bool = True) -> tuple[str, Path]:
    """Make a program that posts these messages. Return its path and the file of its requests."""
    path, seen = folder / "browser", folder / "seen.json"
    path.write_text(
        _BROWSER.format(python=sys.executable, told=json.dumps(told), seen=str(seen), stays=stays)
    )
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return str(path), seen
