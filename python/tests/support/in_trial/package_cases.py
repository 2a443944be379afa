"""Lists cases of what an objective returns and raises, and of ``import hyperflock`` inside a
trial.
"""

from __future__ import annotations

from in_trial.case import gives, no_metric, pruned, raises, refused, value

_NUMBER = "metric_not_number"
_FINITE = "metric_not_finite"

VALUES = {
    "float": value("0.5", 0.5),
    "int": value("3", 3.0),
    "bool": value("True", 1.0),
    "numpy": value("np.float32(0.25)", 0.25),
    "numpy_bool": value("np.bool_(True)", 1.0),
    "fraction": value("fractions.Fraction(1, 4)", 0.25),
    "array_of_one": value("np.array([[0.5]])", 0.5),
    "array_of_no_dimension": value("np.array(2)", 2.0),
    "variable": value("types.SimpleNamespace(array=np.array(0.5))", 0.5),
    "tuple": value("1, 2.0", 1.0, 2.0),
    "list": value("[np.int64(4)]", 4.0),
    "eight": value("range(8)[:1] and list(range(8))", *map(float, range(8))),
    "none": no_metric("None", _NUMBER, "the objective's value must be a number, but is of type No"),
    "text": no_metric("'1.0'", _NUMBER, "but is of type str"),
    "complex": no_metric("1j", _NUMBER, "but is of type complex"),
    "array_of_two": no_metric("np.zeros(2)", _NUMBER, "but is of type ndarray"),
    "text_inside": no_metric("1.0, 'a'", _NUMBER, "but is of type str"),
    "no_values": no_metric(
        "()", _NUMBER, "the objective returned 0 values, but must return 1 to 8"
    ),
    "nine_values": no_metric("(1,) * 9", _NUMBER, "the objective returned 9 values, but must"),
    "nan": no_metric("math.nan", _FINITE, "the objective's value is nan, but must be finite"),
    "infinity": no_metric("np.inf", _FINITE, "the objective's value is inf, but must be finite"),
    "infinity_inside": no_metric("1, -math.inf", _FINITE, "the objective's value is -inf, but mu"),
    "beyond_floats": no_metric("-10**400", _FINITE, "the objective's value is -inf, but must be f"),
}

ERRORS = {
    "pruned": pruned("raise hyperflock.TrialPruned", "hyperflock.TrialPruned"),
    "pruned_with_a_text": pruned(
        "trial.report(1, 3); raise hyperflock.TrialPruned('bad')",
        "hyperflock.TrialPruned",
        "bad",
        reports=[(3, 1.0)],
    ),
    "pruned_by_a_subclass": pruned(
        "raise type('Mine', (hyperflock.TrialPruned,), {'__module__': 'mine'})", "mine.Mine"
    ),
    "pruned_by_optuna_s": pruned(
        "import optuna; raise optuna.TrialPruned('bad')", "optuna.exceptions.TrialPruned", "bad"
    ),
    "pruned_is_no_error_of_ours": gives(
        "issubclass(hyperflock.TrialPruned, hyperflock.HyperflockError)", "False"
    ),
    "raised": raises("1 / 0", "builtins.ZeroDivisionError", "division by zero"),
    "raised_memory_error": raises(
        "raise MemoryError('full')", "builtins.MemoryError", "full", "out_of_memory"
    ),
    "raised_exit": raises("raise SystemExit(3)", "builtins.SystemExit", "3"),
    "raised_metric_error": refused(
        "raise hyperflock.MetricError('m')", "MetricError", "metric_not_number", "m"
    ),
    "raised_metric_error_with_a_code": refused(
        "raise hyperflock.MetricError('m', code='metric_not_finite')",
        "MetricError",
        "metric_not_finite",
        "m",
    ),
    "raised_mismatch": refused(
        "raise hyperflock.SuggestMismatchError('m')",
        "SuggestMismatchError",
        "suggest_mismatch",
        "m",
    ),
    "raised_root": raises(
        "raise hyperflock.HyperflockError('m')", "hyperflock.HyperflockError", "m [error]"
    ),
    "raised_code_of_another_kind": raises(
        "raise hyperflock.HyperflockError('m', code='study_stopped')",
        "hyperflock.HyperflockError",
        "m [study_stopped]",
    ),
    "error_made_by_hand": gives(
        "one = hyperflock.CheckpointError('m', code='checkpoint_malformed', field='f')\n"
        "one.code, one.message, one.field, str(one)",
        "('checkpoint_malformed', 'm', 'f', 'm (f) [checkpoint_malformed]')",
    ),
    "error_bases": gives(
        "[[base.__name__ for base in getattr(hyperflock, name).__mro__[1:4]] for name in "
        "('MetricError', 'SuggestMismatchError', 'CheckpointError', 'ArtifactError', "
        "'ArtifactLostError', 'AttributeRefusedError', 'SuggestInvalidError', "
        "'StudyElsewhereError', 'CallError', 'NotInTrialError')]",
        repr(
            [["HyperflockError", "ValueError", "Exception"]] * 4
            + [["HyperflockError", "RuntimeError", "Exception"]]
            + [["HyperflockError", "ValueError", "Exception"]] * 2
            + [["HyperflockError", "AttributeError", "Exception"]]
            + [["HyperflockError", "RuntimeError", "Exception"]] * 2
        ),
    ),
    "error_default_codes": gives(
        "[getattr(hyperflock, name)('m').code for name in ('MetricError', 'SuggestMismatchError', "
        "'ArtifactLostError', 'SuggestInvalidError', 'StudyElsewhereError', 'NotInTrialError')]",
        repr(
            [
                *("metric_not_number", "suggest_mismatch", "artifact_not_stored"),
                *("suggest_invalid", "study_elsewhere", "not_in_trial"),
            ]
        ),
    ),
    "error_of_the_researcher_s": gives(
        "try:\n    raise KeyError\nexcept (hyperflock.ServerError, KeyError) as error:\n"
        "    caught = error\ntype(caught)",
        "<class 'KeyError'>",
    ),
}

_ELSEWHERE = "is not available inside a trial: put the code that submits the study below"

NAMES = {
    "version": gives("hyperflock.__version__ == version", "True"),
    "all_names": gives("sorted(hyperflock.__all__) == names", "True"),
    "each_name": gives("[name for name in names if not hasattr(hyperflock, name)]", "[]"),
    "listed": gives("set(names) <= set(dir(hyperflock))", "True"),
    "star_import": gives(
        "exec('from hyperflock import *', star := {}); set(names) <= {*star}", "True"
    ),
    "imports": gives(
        "from hyperflock import CheckpointExtension, Trial, TrialPruned, device, fast_step\n"
        "Trial is hyperflock.Trial",
        "True",
    ),
    "import_for_annotations": gives(
        "from hyperflock import Client, Study\n"
        "def annotated(client: Client | None) -> Study: ...\nannotated(None)"
    ),
    "unknown_name": raises(
        "hyperflock.nope", "builtins.AttributeError", "module 'hyperflock' has no attribute 'nope'"
    ),
    "unknown_import": raises("from hyperflock import nope", "builtins.ImportError"),
    "client": raises(
        "hyperflock.Client('http://server', token='x')",
        "hyperflock.NotInTrialError",
        f"hyperflock.Client {_ELSEWHERE}",
        in_child=True,
    ),
    "function": raises(
        "hyperflock.run_local(print, {})",
        "hyperflock.NotInTrialError",
        f"hyperflock.run_local {_ELSEWHERE}",
        in_child=True,
    ),
    "optimize": raises(
        "import hyperflock.optuna; hyperflock.optuna.optimize(None, None)",
        "hyperflock.NotInTrialError",
        f"hyperflock.optuna.optimize {_ELSEWHERE}",
        in_child=True,
    ),
    "optimize_imported": raises(
        "from hyperflock.optuna import Storage, optimize; optimize(None, None)",
        "hyperflock.NotInTrialError",
        f"hyperflock.optuna.optimize {_ELSEWHERE}",
        in_child=True,
    ),
    "search_of_scikit_learn": raises(
        "from hyperflock.sklearn import SearchCV; SearchCV(None, {})",
        "hyperflock.NotInTrialError",
        f"hyperflock.sklearn.SearchCV {_ELSEWHERE}",
        in_child=True,
    ),
    "optuna_by_its_name": gives("hyperflock.optuna.__name__", "'hyperflock.optuna'"),
    "inner_modules": raises(
        "import hyperflock._client", "builtins.ModuleNotFoundError", "hyperflock._c", in_child=True
    ),
    "trial_by_hand": gives(
        "one = hyperflock.Trial({'x': 1}, number=2, seed=3, data={})\n"
        "one.report(1, 0); one.number, one.seed, dict(one.params), one.suggest_int('x', 0, 1)",
        "(2, 3, {'x': 1}, 1)",
    ),
}

DEVICES = {
    "device": gives(
        "one = hyperflock.device(); one.backend, one.is_gpu, one.chainer_device, one.xp.__name__",
        "('numpy', False, -1, 'numpy')",
    ),
    "device_is_one": gives("isinstance(hyperflock.device(), hyperflock.Device)", "True"),
    "device_by_name": gives("hyperflock.device('cpu').use().name", "'numpy'"),
    "device_sends": gives("one = [1]; hyperflock.device().use().send(one) is one", "True"),
    "device_unknown": raises(
        "hyperflock.device('tpu')",
        "builtins.ValueError",
        "There is no back end 'tpu': take one of auto, webgpu, webgl2, cpu.",
    ),
    "fast_step_of_a_number": raises(
        "hyperflock.fast_step(3)", "builtins.TypeError", "an updater or a function, not int"
    ),
}

CASES = {
    **{f"value_{name}": case for name, case in VALUES.items()},
    **ERRORS,
    **{f"name_{name}": case for name, case in NAMES.items()},
    **DEVICES,
}
