"""Every code with which an objective is refused before anything is sent, and when.

    raise cannot("socket", "the objective uses 'link', a network connection; ...")

A code that is not in the table cannot be raised, and the tests raise each that is. Plain data; any
thread.
"""

from __future__ import annotations

from hyperflock._errors import BundleError

BUNDLE_CODES: dict[str, str] = {
    "cannot_bundle_builtin": "is a class, or a function that is not written in Python",
    "cannot_bundle_callable": "cannot be called",
    "cannot_bundle_client": "uses a `Client` or a `Study`, which hold your token",
    "cannot_bundle_coroutine": "is `async`, or uses a coroutine that has begun",
    "cannot_bundle_database": "uses a connection to a database",
    "cannot_bundle_extension": "needs a module compiled for this machine",
    "cannot_bundle_file": "uses an open file",
    "cannot_bundle_function": "is not in the script or module that was named",
    "cannot_bundle_generator": "yields, or uses a generator or iterator that has begun",
    "cannot_bundle_gpu": "uses an object of PyTorch, TensorFlow, JAX or CuPy",
    "cannot_bundle_lock": "uses a thread, a lock, a queue or an event",
    "cannot_bundle_module": "is in a module that cannot be found",
    "cannot_bundle_package": "imports a package that the browsers' runtime does not have",
    "cannot_bundle_path": "uses a file or folder of this machine by its path",
    "cannot_bundle_process": "uses a process or a pool of them",
    "cannot_bundle_script": "is in a script that does not exist",
    "cannot_bundle_size": "drags along more than 16 MiB, or more than 2,000 files",
    "cannot_bundle_socket": "uses a network connection",
    "cannot_bundle_source": "has no source at hand, or one that is not valid Python",
    "cannot_bundle_state": "uses a global that would have another value, or none, in a browser",
    "cannot_bundle_unguarded": "is in a script that would submit itself again when it is imported",
    "cannot_bundle_value": "uses a value that cannot be written down",
    "cannot_bundle_wheel": "comes with a wheel that is none, or is not pure Python",
}


def cannot(kind: str, message: str) -> BundleError:
    """Make the error ``cannot_bundle_<kind>``; any other kind is a fault of ours."""
    code = f"cannot_bundle_{kind}"
    if code not in BUNDLE_CODES:
        raise KeyError(code)
    return BundleError(message, code=code)
