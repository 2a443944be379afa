"""Lists the error codes that this package raises itself, each with its reason. Codes of the server
are in the server's documents.

    raise cannot("socket", "the objective uses 'link', a network connection; ...")

Tests compare these lists with the sources and with docs/errors.md, and raise each code once. Plain
data; any thread may use it.
"""

from __future__ import annotations

from hyperflock._base.errors import BundleError

CODES: dict[str, str] = {
    "arrays_alive": "this process has arrays of array-core, which a local run would destroy",
    "artifact_invalid": "a trial's file has a name or a MIME type that cannot travel",
    "artifact_not_stored": "for minutes, a trial's file could not be sent to the server",
    "artifact_too_large": "a trial's file has more than 64 MiB",
    "attribute_not_json": "an attribute of a trial has no JSON form; an enqueued trial then fails",
    "attributes_too_large": "a trial's attributes take over 56 KiB, or over 32 KiB when enqueued",
    "bad_ca": "`HYPERFLOCK_CA` does not name a PEM file of certificates",
    "bad_factory": "`--sampler` or `--pruner` does not name a function that makes one",
    "bad_field": "a name or a value is of a kind that cannot be sent; `field` says which",
    "bad_format": "the format of an export or a plot is unknown",
    "bad_number": "a number is out of its range, not finite, or too large for 64 bits",
    "bad_once": "`once` was given without a name, or together with a `submit_key`",
    "bad_plot": "the kind of a plot is unknown",
    "bad_space": "`--space` is neither JSON nor a file of JSON",
    "bad_storage": "Optuna's storage cannot be opened, or does not have the study",
    "bad_url": "the console's address is not a valid address",
    "blob_damaged": "the server sent bytes that do not have the expected hash",
    "blob_too_large": "code or a data set has more bytes than the server takes",
    "cannot_listen": "a page cannot be served at the given address of this machine",
    "cannot_share": "phones cannot be given a link in the way that `--share-by` names",
    "cannot_write": "a file or folder cannot be written",
    "checkpoint_malformed": "a checkpoint cannot be read; its trial starts from the beginning",
    "checkpoint_not_a_tree": "a checkpoint holds a value that cannot be saved",
    "checkpoint_too_large": "a checkpoint has more than 64 MiB",
    "data_invalid": "a data set is of a kind that cannot be sent, or cannot be read as arrays",
    "data_not_found": "a data set's file cannot be read",
    "demo_missing": "the script that `hyperflock demo` runs is not there",
    "directions_differ": "the Optuna study and the server's study have different directions",
    "dry_run_broken": "the process or the browser of a dry run or replay ended without a result",
    "dry_run_unavailable": "this machine lacks something that a dry run or a replay needs",
    "empty_space": "the space has no names, or a name has no values",
    "forbidden": "the server, or a proxy, answered 403 without a code",
    "frame_too_large": "a message or a study is larger than the protocol allows",
    "malformed": "an answer is not JSON, or breaks the protocol",
    "malformed_answer": "the answer to a trial's call cannot be read",
    "metric_not_finite": "an objective returned or reported NaN or infinity",
    "metric_not_number": "an objective returned or reported a value that is not a number",
    "missing_field": "a message lacks a field",
    "no_complete_trial": "the best trial or a plot was requested, and no trial is complete",
    "no_dashboard": "`hyperflock dashboard` was called and optuna-dashboard is not installed",
    "no_optuna": "Optuna is not installed, or is neither version 4 nor 5",
    "no_pandas": "`to_pandas` was called and pandas is not installed",
    "no_plotter": "one of Optuna's plots was requested; neither plotly nor Matplotlib is installed",
    "no_pyarrow": "Parquet was asked for and pyarrow is not installed",
    "no_token": "there is no token, or the given text cannot be a token",
    "no_volunteer_engine": "neither a browser nor a new enough Node is here for a volunteer",
    "not_found": "the server, or a proxy, answered 404 without a code",
    "not_in_trial": "a trial called a function that works only on the researcher's machine",
    "not_optuna_study": "`optimize` was called with an object that is not an Optuna study",
    "objective_failed": "an objective raised an exception on a device that `catch` does not name",
    "owner_replaced": "another process became the study's sampler",
    "parts_damaged": "the server's files in this installation are damaged",
    "rate_limited": "the server, or a proxy, answered 429 without a code",
    "read_only_storage": "a call would create or change something in a read-only storage",
    "replay_failed": "a trial's code or data cannot be loaded here, or the trial took too long",
    "runtime_damaged": "the server's browser runtime cannot be read, or differs from its index",
    "runtime_unavailable": "the server's browser runtime cannot be fetched and is not in the cache",
    "server_already_up": "`hyperflock up` found that a server already uses its data folder",
    "server_error": "the server, or a proxy, refused a request without a code",
    "server_failed": "the server that `hyperflock up` started ended by itself",
    "server_not_found": "`hyperflock up` did not find the server, its pages or its runtime",
    "server_unreachable": "no server answers at the console's address, or no server runs here",
    "space_too_large": "the space has more than 2^53 - 1 points",
    "study_differs": "a waiting trial of the Optuna study is another trial at the server",
    "study_elsewhere": "a trial used something that only the process of its Optuna study has",
    "suggest_invalid": "a suggestion's name or distribution is too long, or has no JSON form",
    "suggest_mismatch": "an objective asked for a parameter whose value its trial cannot give",
    "time_limit": "a dry run took longer than the trial's limit (in `run.error`)",
    "too_long": "a text, a point or the provenance is longer than allowed",
    "too_many": "there are more names, data sets or items than allowed",
    "trial_unfinished": "a replay was requested for a trial without a result",
    "tunnel_failed": "cloudflared or ngrok opened no tunnel, or closed it",
    "unauthorized": "the server, or a proxy, answered 401 without a code",
    "unknown_runtime": "there is no such `runtime`",
    "unknown_type": "the server sent a message of a type that this version does not know",
    "untrusted_code": "a replay would run the code of somebody else's study on this machine",
    "usage": "the command's arguments are wrong",
    "volunteer_failed": "volunteers on this machine could not start, or ended by themselves",
    "wait_timeout": "a study did not end within the given time",
}

BUNDLE_CODES: dict[str, str] = {
    "cannot_bundle_builtin": "is a class, or a function that is not written in Python",
    "cannot_bundle_callable": "cannot be called",
    "cannot_bundle_client": "uses a `Client` or a `Study`, which contain your token",
    "cannot_bundle_coroutine": "is `async`, or uses a coroutine that has started",
    "cannot_bundle_database": "uses a connection to a database",
    "cannot_bundle_extension": "needs a module compiled for this machine",
    "cannot_bundle_file": "uses an open file",
    "cannot_bundle_function": "is not in the given script or module",
    "cannot_bundle_generator": "yields, or uses a generator or iterator that has started",
    "cannot_bundle_gpu": "uses an object of PyTorch, TensorFlow, JAX or CuPy",
    "cannot_bundle_lock": "uses a thread, a lock, a queue or an event",
    "cannot_bundle_module": "is in a module that cannot be found",
    "cannot_bundle_not_in_trial": "calls a function that works only on the researcher's machine",
    "cannot_bundle_package": "imports a package that the browsers' runtime does not have",
    "cannot_bundle_path": "uses a file or folder of this machine by its path",
    "cannot_bundle_process": "uses a process or a pool of processes",
    "cannot_bundle_script": "is in a script that does not exist",
    "cannot_bundle_size": "needs more than 16 MiB, or more than 2,000 files",
    "cannot_bundle_socket": "uses a network connection",
    "cannot_bundle_source": "has no source, or a source that is not valid Python",
    "cannot_bundle_state": "uses a global that would be different or missing in a browser",
    "cannot_bundle_unguarded": "is in a script that would submit itself again when it is imported",
    "cannot_bundle_value": "uses a value that cannot be written as source text",
    "cannot_bundle_wheel": "comes with a file that is not a wheel, or is not pure Python",
}


def cannot(kind: str, message: str) -> BundleError:
    """Return the error ``cannot_bundle_<kind>``; ``kind`` must be in the list above."""
    code = f"cannot_bundle_{kind}"
    if code not in BUNDLE_CODES:
        raise KeyError(code)
    return BundleError(message, code=code)
