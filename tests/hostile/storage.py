"""Attacks that read or write what the browser stores for this origin."""

from __future__ import annotations

from typing import Any

from escape import each_refused, inner, started


def indexed_db(trial: Any) -> float:
    """Open the agent's database and a new one, by every name and through Pyodide."""
    import js

    def synchronise() -> None:
        files = inner("pyodide_js").FS
        files.mkdirTree("/hostile")
        files.mount(files.filesystems.IDBFS, js.Object.new(), "/hostile")
        files.writeFile("/hostile/secret", "secret")
        files.syncfs(False, lambda *error: None)

    return each_refused(
        {
            "global": lambda: js.indexedDB.open("hyperflock"),
            "own": lambda: js.indexedDB.open("hostile"),
            "inherited": lambda: js.Reflect.get(
                js.WorkerGlobalScope.prototype, "indexedDB", js.self
            ),
            "factory": lambda: js.IDBFactory,
            "databases": lambda: js.indexedDB.databases(),
            "IDBFS": synchronise,
        }
    )


def cache_storage(trial: Any) -> float:
    """Open the agent's cache of files, to read others' data or to replace bytes."""
    import js

    return each_refused(
        {
            "open": lambda: js.caches.open("hyperflock-blobs"),
            "own": lambda: js.caches.open("hostile"),
            "inherited": lambda: js.Reflect.get(js.WorkerGlobalScope.prototype, "caches", js.self),
            "interface": lambda: js.CacheStorage or js.Cache,
        }
    )


def private_files(trial: Any) -> float:
    """Open the origin's private file system, by its new interface and by the obsolete one."""
    import js

    return each_refused(
        {
            "directory": lambda: js.navigator.storage.getDirectory(),
            "manager": lambda: js.StorageManager,
            "handle": lambda: js.FileSystemDirectoryHandle,
            "temporary": lambda: js.webkitRequestFileSystemSync(0, 1024),
            "persistent": lambda: js.webkitRequestFileSystemSync(1, 1024),
            "later": lambda: started(js.webkitRequestFileSystem(0, 1024, lambda system: None)),
            "resolve": lambda: js.webkitResolveLocalFileSystemSyncURL(
                f"filesystem:{trial.params['compute']}/temporary/"
            ),
            "buckets": lambda: js.navigator.storageBuckets.open("hostile"),
            "quota": lambda: js.navigator.storage.estimate(),
        }
    )


def cookies(trial: Any) -> float:
    """Read and write cookies and the page's storage."""
    import js

    return each_refused(
        {
            "local": lambda: js.localStorage.getItem("x") or js.localStorage,
            "session": lambda: js.sessionStorage,
            "cookieStore": lambda: js.cookieStore.getAll(),
            "document": lambda: js.document.cookie,
            "shared": lambda: js.sharedStorage,
        }
    )


def device_token(trial: Any) -> float:
    """Look for the device's secret and the enrolment code in all reachable objects and files."""
    import gc
    import os
    import re

    import js

    # The pattern is built at run time, so that the search does not find this code.
    secret = re.compile("hf" + "[adre]" + r"_[\w-]{20,}")

    def texts(value: str) -> list[str]:
        return secret.findall(value)

    def in_globals() -> Any:
        found: list[str] = []
        seen, queue = js.Set.new(), [(js.globalThis, 0)]
        while queue:
            thing, depth = queue.pop()
            if seen.has(thing) or depth > 3:
                continue
            seen.add(thing)
            for name in js.Reflect.ownKeys(thing):
                try:
                    value = js.Reflect.get(thing, name)
                except Exception:
                    continue
                if isinstance(value, str):
                    found += texts(value)
                elif hasattr(value, "js_id") and len(queue) < 20_000:
                    queue.append((value, depth + 1))
        return found

    def in_memory() -> list[str]:
        return texts(inner("pyodide_js")._module.HEAPU8.to_bytes().decode("latin-1"))

    return each_refused(
        {
            "address": lambda: js.location.hash or js.location.search,
            "referrer": lambda: js.document.referrer,
            "globals": in_globals,
            "memory": in_memory,
            "environment": lambda: texts(str(dict(os.environ))),
            "objects": lambda: [
                o
                for o in gc.get_objects()
                if isinstance(o, dict) and "secret" in o and "device" in o
            ],
        }
    )
