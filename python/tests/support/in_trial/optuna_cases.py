"""Lists cases of a trial of an Optuna study: its methods, and the methods of Optuna's trial that it
refuses.

No sampler runs. The values of `SUGGESTED` are those of an earlier attempt. A suggestion with any
other name gets the error that a replay gives.
"""

from __future__ import annotations

import dataclasses
import json
import sys
from typing import Any

from in_trial.case import Case, gives, no_metric, pruned, raises, refused, value


def _float(low: float, high: float, log: bool = False, step: float | None = None) -> str:
    attributes = {"step": step, "low": low, "high": high, "log": log}
    return json.dumps({"name": "FloatDistribution", "attributes": attributes})


def _int(low: int, high: int, log: bool = False, step: int = 1) -> str:
    attributes = {"log": log, "step": step, "low": low, "high": high}
    return json.dumps({"name": "IntDistribution", "attributes": attributes})


def _choices(*choices: Any) -> str:
    return json.dumps({"name": "CategoricalDistribution", "attributes": {"choices": choices}})


# The distribution and the value of each parameter, both as JSON texts.
SUGGESTED = {
    "x": [_float(0.0, 1.0), "0.25"],
    "log": [_float(0.01, 1.0, log=True), "0.1"],
    "step": [_float(0.0, 1.0, step=0.25), "0.5"],
    "units": [_int(16, 64, step=16), "32"],
    "kind": [_choices("sgd", "adam"), '"adam"'],
    "deep": [_choices(1, True), "true"],
    "pair": [_choices([1, 2], [3, 4]), "[3, 4]"],
    "senseless": [_float(0.0, 1.0), '"a"'],
    "no_json": [_float(0.0, 1.0), "{"],
    "no_choice": [_choices("sgd", "adam"), '"rmsprop"'],
}
_ASKED = {"directions": 1, "suggested": json.dumps(SUGGESTED), "attrs": None}
_ENQUEUED = {
    "user": {"origin": [1]},
    "system": {"fixed_params": {"x": 0.25}},
}
_LARGEST = sys.float_info.max


def _asked(case: Case, **more: Any) -> Case:
    return dataclasses.replace(case, asked={**_ASKED, **more})


_MALFORMED = ("hyperflock.CallError", "the answer to 'suggest' is no value of")
_OPTUNA = "builtins.ValueError"

_ONE_OBJECTIVE = {
    "float": gives("trial.suggest_float('x', 0, 1)", "0.25"),
    "float_log": gives("trial.suggest_float('log', 0.01, 1, log=True)", "0.1"),
    "float_step": gives("trial.suggest_float('step', 0, 1, step=0.25)", "0.5"),
    "int": gives("trial.suggest_int('units', 16, 64, step=16)", "32"),
    "choice": gives("trial.suggest_categorical('kind', ['sgd', 'adam'])", "'adam'"),
    "choice_bool": gives("trial.suggest_categorical('deep', [1, True])", "True"),
    "choice_is_the_objective_s_own": gives(
        "pairs = [(1, 2), (3, 4)]\nwith warnings.catch_warnings():\n"
        "    warnings.simplefilter('ignore'); one = trial.suggest_categorical('pair', pairs)\n"
        "one is pairs[1]",
        "True",
    ),
    "old_uniform": gives("trial.suggest_uniform('x', 0, 1)", "0.25", warns="suggest_uniform is d"),
    "old_loguniform": gives("trial.suggest_loguniform('log', 0.01, 1)", "0.1", warns="log=True)"),
    "old_discrete": gives(
        "trial.suggest_discrete_uniform('step', 0, 1, 0.25)", "0.5", warns="step=...)"
    ),
    "params": gives("trial.suggest_float('x', 0, 1); trial.params", "{'x': 0.25}"),
    "params_before": gives("trial.params, trial.distributions", "({}, {})"),
    "distributions": gives(
        "trial.suggest_float('x', 0, 1); trial.distributions",
        "{'x': FloatDistribution(high=1.0, log=False, low=0.0, step=None)}",
    ),
    "asked_twice": gives(
        "trial.suggest_float('x', 0, 1); trial.suggest_float('x', 0.1, 1)",
        "0.25",
        warns="'x' was asked for with another distribution before; its first value stays, of Float",
    ),
    "asked_twice_of_another_kind": raises(
        "trial.suggest_float('x', 0, 1); trial.suggest_int('x', 0, 1)", _OPTUNA, "distribution kind"
    ),
    "asked_twice_of_other_choices": raises(
        "trial.suggest_categorical('kind', ['sgd', 'adam']); "
        "trial.suggest_categorical('kind', ['sgd'])",
        _OPTUNA,
        "dynamic value space",
    ),
    "not_as_an_earlier_attempt": refused(
        "trial.suggest_float('x', 0, 2)",
        "SuggestMismatchError",
        "suggest_mismatch",
        "'x' was suggested to an earlier attempt of this trial from {",
    ),
    "nobody_answers": refused(
        "trial.suggest_float('new', 0, 1)",
        "CallError",
        "owner_error",
        "the trial was given no value for 'new' when it ran before",
    ),
    "answer_of_another_kind": raises("trial.suggest_float('senseless', 0, 1)", *_MALFORMED),
    "answer_of_no_json": raises("trial.suggest_float('no_json', 0, 1)", *_MALFORMED),
    "answer_of_no_choice": raises(
        "trial.suggest_categorical('no_choice', ['sgd', 'adam'])", *_MALFORMED
    ),
    "name_empty": refused(
        "trial.suggest_float('', 0, 1)", "SuggestInvalidError", "suggest_invalid", "1 to 256 charac"
    ),
    "name_too_long": refused(
        "trial.suggest_int('x' * 257, 0, 1)",
        "SuggestInvalidError",
        "suggest_invalid",
        "1 to 256 ch",
    ),
    "name_of_a_number": refused(
        "trial.suggest_int(3, 0, 1)", "SuggestInvalidError", "suggest_invalid", "characters, not 3"
    ),
    "choices_too_long": refused(
        "trial.suggest_categorical('c', ['y' * 20_000])",
        "SuggestInvalidError",
        "suggest_invalid",
        "the distribution of 'c' takes more than 16384 bytes as JSON",
    ),
    "choices_without_json": refused(
        "with warnings.catch_warnings():\n    warnings.simplefilter('ignore')\n"
        "    trial.suggest_categorical('c', [object()])",
        "SuggestInvalidError",
        "suggest_invalid",
        "the choices of 'c' have no JSON form: give None, bools, numbers and strings",
    ),
    "bounds_the_wrong_way": raises("trial.suggest_float('x', 1, 0)", _OPTUNA, "`low <= high`"),
    "log_from_zero": raises("trial.suggest_float('x', 0, 1, log=True)", _OPTUNA, "`low > 0`"),
    "step_of_nothing": raises("trial.suggest_int('units', 0, 9, step=0)", _OPTUNA, "step"),
    "no_choices": raises("trial.suggest_categorical('kind', [])", _OPTUNA, "must contain one"),
    "report": gives("trial.report('0.5', 3.0)", reports=[(3, 0.5)]),
    "report_twice": gives(
        "trial.report(1, 0); trial.report(2, 0)",
        reports=[(0, 1.0)],
        warns="step 0 was reported before; its first value stays",
    ),
    "report_infinity": gives("trial.report(-math.inf, 0)", reports=[(0, -_LARGEST)]),
    "report_beyond_floats": gives("trial.report(10**400, 0)", reports=[(0, _LARGEST)]),
    "report_nan": gives("trial.report(math.nan, 4); trial.should_prune()", "False"),
    "report_array_of_one": gives("trial.report(np.array([0.5]), 1)", reports=[(1, 0.5)]),
    "report_text": raises(
        "trial.report('x', 0)", "builtins.TypeError", "the value reported is a str, not a number"
    ),
    "report_none": raises("trial.report(None, 0)", "builtins.TypeError", "is a NoneType, not a n"),
    "report_step_text": raises(
        "trial.report(1, 'x')", "builtins.TypeError", "step is a str, not a whole number"
    ),
    "report_step_negative": raises(
        "trial.report(1, -1)", _OPTUNA, "step must be a whole number of"
    ),
    "report_step_beyond_the_wire": raises("trial.report(1, 2**53)", _OPTUNA, "0 to 2^53 - 1, but"),
    "report_step_infinite": raises(
        "trial.report(1, math.inf)", "builtins.TypeError", "step is a fl"
    ),
    "prune_before_a_report": gives("trial.should_prune()", "False"),
    "study_stops": gives(
        "trial.study.stop(); trial.study.is_stopped", "True", attributes={"stop": True}
    ),
    "study_elsewhere": refused(
        "trial.study.best_value",
        "StudyElsewhereError",
        "study_elsewhere",
        "trial.study.best_value is not available inside a trial",
    ),
    "study_has_no_trials": gives("hasattr(trial.study, 'trials')", "False"),
    "relative_params": refused(
        "trial.relative_params",
        "StudyElsewhereError",
        "study_elsewhere",
        "trial.relative_params is",
    ),
    "storage_elsewhere": refused(
        "trial.storage.get_all_trials(0)",
        "StudyElsewhereError",
        "study_elsewhere",
        "trial.storage.get_all_trials is not available inside a trial",
    ),
    "is_a_trial_of_optuna_s": gives(
        "isinstance(trial, optuna.Trial), isinstance(trial, hyperflock.Trial)", "(True, True)"
    ),
    "offers_all_of_optuna_s": gives(
        "[name for name in dir(optuna.trial.Trial) if name[0] != '_' and name not in dir(trial)]",
        "[]",
    ),
    "number_seed_and_data": gives("trial.number, trial.seed, sorted(trial.data)", "(4, 11, ['x'])"),
    "attribute": gives(
        "trial.set_user_attr('a', np.float32(0.5)); trial.user_attrs['a'].item()",
        "0.5",
        attributes={"user": {"a": 0.5}},
    ),
    "attribute_object": refused(
        "trial.set_user_attr('a', object())",
        "AttributeRefusedError",
        "attribute_not_json",
        "the attribute 'a' has no JSON form: a object is no JSON",
    ),
    "checkpoint": gives("trial.checkpoint({})", "True", uploads=["tree -1"]),
    "checkpoint_after_nan": gives(
        "trial.report(math.nan, 2); trial.checkpoint({})", "True", uploads=["tree 2"]
    ),
    "artifact": gives(
        "pathlib.Path('w').write_bytes(b'1'); len(trial.upload_artifact('w'))",
        "36",
        uploads=["w application/octet-stream"],
        attributes={
            "system": {
                "artifacts:ID": {
                    "artifact_id": "ID",
                    "filename": "w",
                    "mimetype": "application/octet-stream",
                    "encoding": None,
                }
            }
        },
    ),
    "artifact_by_optuna": gives(
        "import optuna.artifacts; pathlib.Path('w.txt').write_bytes(b'1')\n"
        "len(optuna.artifacts.upload_artifact(file_path='w.txt', study_or_trial=trial, "
        "artifact_store=optuna.artifacts.FileSystemArtifactStore('kept')))",
        "36",
        uploads=["w.txt text/plain"],
        attributes={
            "system": {
                "artifacts:ID": {
                    "artifact_id": "ID",
                    "filename": "w.txt",
                    "mimetype": "text/plain",
                    "encoding": None,
                }
            }
        },
    ),
    "pruned_by_optuna_s": pruned(
        "raise optuna.TrialPruned('bad')", "optuna.exceptions.TrialPruned"
    ),
    "value": value("'0.5',", 0.5),
    "value_infinity": value("math.inf", _LARGEST, attributes={"values": ["inf"]}),
    "value_text": no_metric(
        "'a'", "metric_not_number", "The value 'a' could not be cast to float."
    ),
    "value_nan": no_metric("math.nan", "metric_not_finite", "The value nan is not acceptable."),
    "value_of_two": no_metric(
        "1, 2", "metric_not_number", "The number of the values 2 did not mat"
    ),
}

CASES = {
    **{f"optuna_{name}": _asked(case) for name, case in _ONE_OBJECTIVE.items()},
    "optuna_enqueued": _asked(
        gives(
            "trial.set_user_attr('seen', 1); trial.user_attrs, trial.system_attrs",
            "({'origin': [1], 'seen': 1}, {'fixed_params': {'x': 0.25}})",
            attributes={"user": {"origin": [1], "seen": 1}, "system": _ENQUEUED["system"]},
        ),
        attrs=json.dumps(_ENQUEUED),
    ),
    "optuna_two_values": _asked(value("[np.float32(0.5), 2]", 0.5, 2.0), directions=2),
    "optuna_two_objectives_report": _asked(
        raises(
            "trial.report(1, 0)",
            "builtins.NotImplementedError",
            "Trial.report is not supported for multi-objective optimization.",
        ),
        directions=2,
    ),
    "optuna_two_objectives_prune": _asked(
        raises(
            "trial.should_prune()",
            "builtins.NotImplementedError",
            "Trial.should_prune is not supported for multi-objective optimization.",
        ),
        directions=2,
    ),
}
