"""Lists cases of the methods of a grid's trial."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

from in_trial.case import PARAMS, gives, mismatch, raises, refused

_NOT_A_NUMBER = ("MetricError", "metric_not_number")
_STEP = "step must be a whole number of 0 to 2^53 - 1, but is"

REPORTS = {
    "report": gives("trial.report(0.5, 3)", reports=[(3, 0.5)]),
    "report_keywords": gives("trial.report(value=1, step=2)", reports=[(2, 1.0)]),
    "report_numpy": gives("trial.report(np.float32(0.5), np.int64(2))", reports=[(2, 0.5)]),
    "report_bool": gives("trial.report(True, 1)", reports=[(1, 1.0)]),
    "report_numpy_bool": gives("trial.report(np.bool_(False), 1)", reports=[(1, 0.0)]),
    "report_fraction": gives("trial.report(fractions.Fraction(1, 2), 0)", reports=[(0, 0.5)]),
    "report_array_of_one": gives("trial.report(np.array([[0.5]]), 0)", reports=[(0, 0.5)]),
    "report_array_of_no_dimension": gives("trial.report(np.array(2), 0)", reports=[(0, 2.0)]),
    "report_variable": gives(
        "trial.report(types.SimpleNamespace(array=np.array([0.25])), 7)", reports=[(7, 0.25)]
    ),
    "report_step_twice": gives(
        "trial.report(1, 0); trial.report(2, 0)", reports=[(0, 1.0), (0, 2.0)]
    ),
    "report_largest_step": gives("trial.report(1, 2**53 - 1)", reports=[(2**53 - 1, 1.0)]),
    "report_step_bool": gives("trial.report(1, True)", reports=[(1, 1.0)]),
    "report_text": refused("trial.report('0.5', 0)", *_NOT_A_NUMBER, "step 0 must be a number"),
    "report_none": refused("trial.report(None, 5)", *_NOT_A_NUMBER, "but is of type NoneType"),
    "report_list": refused("trial.report([1.0], 0)", *_NOT_A_NUMBER, "but is of type list"),
    "report_complex": refused("trial.report(1j, 0)", *_NOT_A_NUMBER, "but is of type complex"),
    "report_decimal": refused(
        "trial.report(decimal.Decimal(1), 0)", *_NOT_A_NUMBER, "but is of type Decimal"
    ),
    "report_array_of_two": refused(
        "trial.report(np.zeros(2), 0)", *_NOT_A_NUMBER, "but is of type ndarray"
    ),
    "report_nan": gives("trial.report(math.nan, 3)"),
    "report_numpy_nan": gives("trial.report(np.float32('nan'), 0)"),
    "report_infinity": gives("trial.report(-math.inf, 0)", reports=[(0, -sys.float_info.max)]),
    "report_beyond_floats": gives("trial.report(10**400, 0)", reports=[(0, sys.float_info.max)]),
    "prune_after_nan": gives("trial.report(math.nan, 3); trial.should_prune()", "False"),
    "report_step_negative": raises("trial.report(1, -1)", "builtins.ValueError", f"{_STEP} -1"),
    "report_step_float": raises("trial.report(1, 0.5)", "builtins.ValueError", f"{_STEP} 0.5"),
    "report_step_text": raises("trial.report(1, '1')", "builtins.ValueError", f"{_STEP} '1'"),
    "report_step_none": raises("trial.report(1, None)", "builtins.ValueError", f"{_STEP} None"),
    "report_step_beyond_the_wire": raises(
        "trial.report(1, 2**53)", "builtins.ValueError", f"{_STEP} 9007199254740992"
    ),
    "report_without_step": raises("trial.report(1)", "builtins.TypeError"),
    "report_caught": gives(
        "try:\n    trial.report('x', 0)\n"
        "except hyperflock.MetricError as error:\n    caught = error.code\ncaught",
        "'metric_not_number'",
    ),
    "prune_before_a_report": gives("trial.should_prune()", "False"),
    "prune_after_a_report": gives(
        "trial.report(1, 0); trial.should_prune()", "False", reports=[(0, 1.0)]
    ),
}

SUGGESTIONS = {
    "float": gives("trial.suggest_float('f', 0, 1)", "0.3"),
    "float_log": gives("trial.suggest_float('f', 0.1, 1, log=True)", "0.3"),
    "float_step": gives("trial.suggest_float('f', 0.1, 1, step=0.1)", "0.3"),
    "float_of_an_int": gives("trial.suggest_float('i', 0, 10)", "3.0"),
    "float_at_its_bounds": gives("trial.suggest_float('f', 0.3, 0.3)", "0.3"),
    "float_negative": gives("trial.suggest_float('neg', -2, 0)", "-1.5"),
    "int": gives("trial.suggest_int('i', 0, 10)", "3"),
    "int_step": gives("trial.suggest_int('i', 0, 10, step=3)", "3"),
    "int_log": gives("trial.suggest_int('i', 1, 10, log=True)", "3"),
    "int_of_a_whole_float": gives("trial.suggest_int('w', 0, 10)", "2"),
    "choice": gives("trial.suggest_categorical('s', ['a', 'b'])", "'a'"),
    "choice_none": gives("trial.suggest_categorical('n', [None, 1])"),
    "choice_bool": gives("trial.suggest_categorical('b', [1, True])", "True"),
    "choice_of_another_kind": gives("trial.suggest_categorical('i', (1, 3.0))", "3.0"),
    "mismatch_name": mismatch(
        "trial.suggest_float('z', 0, 1)", "the study's space (names: b, f, i, n, neg, s, w)"
    ),
    "mismatch_range": mismatch("trial.suggest_float('f', 0, 0.2)", "'f' is 0.3, which is outside"),
    "mismatch_step": mismatch("trial.suggest_float('f', 0.15, 1, step=0.1)", "no multiple of 0.1"),
    "mismatch_log": mismatch("trial.suggest_float('f', 0, 1, log=True)", "logarithmic range"),
    "mismatch_float_of_text": mismatch("trial.suggest_float('s', 0, 1)", "'s' is 'a', which is no"),
    "mismatch_float_of_bool": mismatch("trial.suggest_float('b', 0, 1)", "'b' is True, which is"),
    "mismatch_float_of_none": mismatch("trial.suggest_float('n', 0, 1)", "'n' is None, which is"),
    "mismatch_int_of_fraction": mismatch("trial.suggest_int('f', 0, 1)", "no whole number"),
    "mismatch_int_of_bool": mismatch("trial.suggest_int('b', 0, 1)", "'b' is True, which is"),
    "mismatch_int_of_text": mismatch("trial.suggest_int('s', 0, 1)", "'s' is 'a', which is"),
    "mismatch_int_step": mismatch("trial.suggest_int('i', 0, 10, step=2)", "no multiple of 2"),
    "mismatch_int_range": mismatch("trial.suggest_int('i', 4, 9)", "outside [4, 9]"),
    "mismatch_choice": mismatch("trial.suggest_categorical('s', ['b'])", "none of ['b']"),
    "mismatch_choice_of_bool": mismatch("trial.suggest_categorical('b', [0, 1])", "none of [0, 1]"),
    "mismatch_no_choices": mismatch("trial.suggest_categorical('s', [])", "none of []"),
    "mismatch_caught_as_value_error": gives(
        "try:\n    trial.suggest_int('s', 0, 1)\nexcept ValueError as error:\n    caught = error\n"
        "isinstance(caught, hyperflock.HyperflockError)",
        "True",
    ),
    "old_uniform": gives("trial.suggest_uniform('f', 0, 1)", "0.3", warns="suggest_uniform is dep"),
    "old_loguniform": gives(
        "trial.suggest_loguniform('f', 0.1, 1)", "0.3", warns="use suggest_float(..., log=True)"
    ),
    "old_discrete_uniform": gives(
        "trial.suggest_discrete_uniform('f', 0, 0.9, 0.1)", "0.3", warns="step=...)"
    ),
}

TRIALS = {
    "number_and_seed": gives("trial.number, trial.seed", "(4, 11)"),
    "params": gives("dict(trial.params)", repr(PARAMS)),
    "params_are_read_only": raises("trial.params['f'] = 1", "builtins.TypeError", "item assign"),
    "params_stay": raises("trial.params = {}", "builtins.AttributeError"),
    "number_stays": raises("trial.number = 5", "builtins.AttributeError"),
    "seed_stays": raises("trial.seed = 5", "builtins.AttributeError"),
    "data": gives("sorted(trial.data), trial.data['x'].sum().item()", "(['x'], 6.0)"),
    "data_is_read_only": raises("trial.data['y'] = 1", "builtins.TypeError", "item assignment"),
    "arrays_are_writable": gives("trial.data['x'][0] = 9; trial.data['x'][0].item()", "9.0"),
    "shown": gives("repr(trial)", repr(f"Trial(number=4, params={PARAMS})")),
    "begun": gives("type(trial.datetime_start)", "<class 'datetime.datetime'>"),
    "is_a_trial": gives("isinstance(trial, hyperflock.Trial)", "True"),
    "is_no_trial_of_optunas": raises("trial.study", "builtins.AttributeError", "'study'"),
    "random_numbers": gives(
        "random.random() == random.Random(trial.seed).random(), "
        "np.random.rand() == np.random.RandomState(trial.seed).rand()",
        "(True, True)",
    ),
}

_NOT_JSON = ("AttributeRefusedError", "attribute_not_json")
_TOO_LONG = ("AttributeRefusedError", "attributes_too_large")

ATTRIBUTES = {
    "attribute": gives("trial.set_user_attr('n', 1)", attributes={"user": {"n": 1}}),
    "attribute_of_numpy": gives(
        "trial.set_user_attr('n', np.int64(12)); trial.set_user_attr('a', np.array([0.5]))",
        attributes={"user": {"n": 12, "a": [0.5]}},
    ),
    "attribute_tree": gives(
        "trial.set_user_attr('t', {'a': [None, True, {'b': 'é'}]}); trial.user_attrs",
        "{'t': {'a': [None, True, {'b': 'é'}]}}",
        attributes={"user": {"t": {"a": [None, True, {"b": "é"}]}}},
    ),
    "attribute_twice": gives(
        "trial.set_user_attr('n', 1); trial.set_user_attr('n', 2)",
        attributes={"user": {"n": 2}},
    ),
    "attribute_is_copied": gives(
        "given = [1]; trial.set_user_attr('n', given); given.append(2)\n"
        "trial.user_attrs['n'].append(3); trial.user_attrs",
        "{'n': [1]}",
        attributes={"user": {"n": [1]}},
    ),
    "attribute_of_the_system": gives(
        "trial.set_system_attr('lib:state', {'a': [1]}); trial.system_attrs",
        "{'lib:state': {'a': [1]}}",
        attributes={"system": {"lib:state": {"a": [1]}}},
    ),
    "attribute_replaced_is_counted_once": gives(
        "trial.set_user_attr('a', 'x' * 40_000); trial.set_user_attr('a', 'y' * 40_000)\n"
        "trial.set_user_attr('a', 1)",
        attributes={"user": {"a": 1}},
    ),
    "attribute_object": refused(
        "trial.set_user_attr('m', object())", *_NOT_JSON, "the attribute 'm' has no JSON form"
    ),
    "attribute_set": refused("trial.set_user_attr('m', {1})", *_NOT_JSON, "a set is no JSON"),
    "attribute_bytes": refused("trial.set_user_attr('m', b'')", *_NOT_JSON, "a bytes is no JSON"),
    "attribute_trial": refused("trial.set_user_attr('m', trial)", *_NOT_JSON, "a Trial is no JSON"),
    "attribute_circle": refused(
        "one = []; one.append(one); trial.set_user_attr('m', one)", *_NOT_JSON, "no JSON form"
    ),
    "attribute_key_of_tuple": refused(
        "trial.set_user_attr('m', {(1,): 1})", *_NOT_JSON, "no JSON form"
    ),
    "attribute_key": refused("trial.set_user_attr(3, 1)", *_NOT_JSON, "key is a string, not 3"),
    "attribute_of_the_system_object": refused(
        "trial.set_system_attr('m', object())", *_NOT_JSON, "has no JSON form"
    ),
    "attribute_too_long": refused(
        "trial.set_user_attr('m', 'x' * 60_000)", *_TOO_LONG, "but may take 57344 at most"
    ),
    "attributes_too_long_together": refused(
        "trial.set_user_attr('a', 'x' * 40_000); trial.set_system_attr('b', 'x' * 20_000)",
        *_TOO_LONG,
        "with 'b' the trial's attributes take",
        attributes={"user": {"a": "x" * 40_000}},
    ),
    "constraint": gives(
        "trial.set_constraint('c', np.float32(0.5)); trial.constraints",
        "{'c': 0.5}",
        attributes={"system": {"constraints:c": 0.5}},
    ),
    "constraint_of_text": gives(
        "trial.set_constraint('c', '-0.5'); trial.constraints",
        "{'c': -0.5}",
        attributes={"system": {"constraints:c": -0.5}},
    ),
    "constraint_twice": gives(
        "trial.set_constraint('c', 1); trial.set_constraint('c', 2); trial.constraints",
        "{'c': 1.0}",
        attributes={"system": {"constraints:c": 1.0}},
        warns="its first value stays",
    ),
    "constraint_list": raises(
        "trial.set_constraint('c', [])", "builtins.TypeError", "'c' is a number, not a list"
    ),
    "constraint_text": raises(
        "trial.set_constraint('c', 'much')", "builtins.TypeError", "is a number, not a str"
    ),
    "constraint_nan": raises(
        "trial.set_constraint('c', math.nan)", "builtins.ValueError", "'c' is NaN, which says noth"
    ),
}

_NO_TREE = ("CheckpointError", "checkpoint_not_a_tree")
_RESUMED = {"user": {"a": [1], "b": "saved"}}
_CHAINERS = "resume takes an object of Chainer's, such as a link or an optimizer, not a dict"

CHECKPOINTS = {
    "checkpoint": gives(
        "trial.checkpoint({'epoch': 3, 'w': np.zeros(2)})", "True", uploads=["tree -1"]
    ),
    "checkpoint_after_a_report": gives(
        "trial.report(1, 7); trial.checkpoint([1, (2, b'3', None)])",
        "True",
        reports=[(7, 1.0)],
        uploads=["tree 7"],
    ),
    "checkpoint_of_numbers": gives(
        "trial.checkpoint([np.float32(1), math.nan, -math.inf, 2**80, True, np.array(['é'])])",
        "True",
        uploads=["tree -1"],
    ),
    "checkpoint_object": refused(
        "trial.checkpoint({'a': object()})", *_NO_TREE, "cannot hold a object: give dicts"
    ),
    "checkpoint_set": refused("trial.checkpoint({1, 2})", *_NO_TREE, "cannot hold a set: give"),
    "checkpoint_key": refused("trial.checkpoint({1: 2})", *_NO_TREE, "a dict with the key 1"),
    "checkpoint_ordered_dict": refused(
        "trial.checkpoint(collections.OrderedDict())", *_NO_TREE, "a collections.OrderedDict: give"
    ),
    "checkpoint_array_of_objects": refused(
        "trial.checkpoint([np.array([None])])", *_NO_TREE, "which would be pickled"
    ),
    "checkpoint_masked_array": refused(
        "trial.checkpoint(np.ma.array([1], mask=[True]))", *_NO_TREE, "whose mask would be lost"
    ),
    "checkpoint_long_int": refused("trial.checkpoint(1 << 14_000)", *_NO_TREE, "at most 14000 bit"),
    "checkpoint_circle": refused(
        "one = []; one.append(one); trial.checkpoint(one)", *_NO_TREE, "at most 64 deep"
    ),
    "checkpoint_too_large": refused(
        "trial.checkpoint(np.broadcast_to(np.float64(1), 2**24))",
        "CheckpointError",
        "checkpoint_too_large",
        "has 134217728 bytes or more, but may have at most 67108864",
    ),
    "checkpoint_caught": gives(
        "try:\n    trial.checkpoint(object())\n"
        "except hyperflock.CheckpointError as error:\n    caught = error.code, error.message[:21]\n"
        "caught",
        "('checkpoint_not_a_tree', 'a checkpoint cannot h')",
    ),
    "resume_nothing": gives("trial.resume()"),
    "resume_nothing_into_chainers": gives(
        "trial.resume(types.SimpleNamespace(serialize=print))", "False"
    ),
    "resume_into_a_dict": raises("trial.resume({})", "builtins.TypeError", _CHAINERS),
    "resume_tree": gives(
        "trial.resume()",
        "{'epoch': 3, 'pair': (1, b'2')}",
        saved="{'epoch': 3, 'pair': (1, b'2')}",
        attributes=_RESUMED,
    ),
    "resume_tree_into_chainers": gives(
        "trial.resume(types.SimpleNamespace(serialize=print))", "False", saved="{'epoch': 3}",
        attributes=_RESUMED,
    ),
    "resume_attributes": gives(
        "trial.set_user_attr('b', 'own'); trial.resume(); sorted(trial.user_attrs.items())",
        "[('a', [1]), ('b', 'own')]",
        saved="{}",
        attributes={"user": {"a": [1], "b": "own"}},
    ),
    "resume_malformed": gives(
        "trial.resume()",
        saved="malformed",
        prints="[checkpoint_malformed] the checkpoint is no tree: File is not a zip file; the",
    ),
    "resume_then_save": gives(
        "trial.resume(); trial.checkpoint({})", "True", saved="{}", uploads=["tree 6 20"],
        attributes=_RESUMED,
    ),
    "due": gives(
        "trial.checkpoint_due(), trial.checkpoint_due(0), trial.checkpoint({})",
        "(False, True, True)",
        uploads=["tree -1"],
    ),
    "extension": gives(
        "one = hyperflock.CheckpointExtension(trial, interval_s=0)\n"
        "one.initialize(None); one({'a': 1}), one.trigger, one.priority, one.name",
        "(None, (1, 'iteration'), -200, 'hyperflock_checkpoint')",
        uploads=["tree -1"],
    ),
    "extension_waits": gives(
        "ticks = iter(range(0, 1000, 20))\n"
        "one = hyperflock.CheckpointExtension(trial, clock=lambda: next(ticks))\n"
        "one.initialize(None); [one({}) for _ in range(4)]",
        "[None, None, None, None]",
        uploads=["tree -1"],
    ),
    "extension_of_no_tree": refused(
        "hyperflock.CheckpointExtension(trial, interval_s=0)(object())",
        *_NO_TREE,
        "cannot hold a object",
    ),
}  # fmt: skip


def _state_of(function: str, before: str = "seen, key = [0], 0") -> str:
    """Return statements that look for state of an extension, which the function's text defines."""
    return (
        "from hyperflock._trial.trainer_state import unsaved_state\n"
        # The class of an objective's module names this module.
        f"__name__ = 'study'\n{before}\n{function}\n"
        "entry = types.SimpleNamespace(extension=watch, trigger=None)\n"
        "trainer = types.SimpleNamespace(\n"
        "    updater=None, stop_trigger=None, _extensions={'watch': entry})\n"
        "unsaved_state(trainer)"
    )


def _unsaved(what: str) -> str:
    return repr(f"the extension 'watch' {what}")


# The code of extensions is read as bytecode, which differs between versions of Python.
AUTO = {
    "auto_off": gives("trial.auto_checkpoint(False)"),
    "auto_on": gives("trial.auto_checkpoint(interval_s=5)"),
    "auto_negative": raises(
        "trial.auto_checkpoint(interval_s=-1)",
        "builtins.ValueError",
        "interval_s must be 0 or more seconds, but is -1",
    ),
    "auto_nan": raises(
        "trial.auto_checkpoint(interval_s=math.nan)",
        "builtins.ValueError",
        "interval_s must be 0 or more seconds, but is nan",
    ),
    "auto_text": raises(
        "trial.auto_checkpoint(interval_s='30 s')",
        "builtins.ValueError",
        "interval_s must be 0 or more seconds, but is '30 s'",
    ),
    "auto_append": gives(
        _state_of("def watch(trainer): seen.append(trainer)"), _unsaved("changes 'seen'")
    ),
    "auto_item": gives(_state_of("def watch(trainer): seen[0] = 1"), _unsaved("changes 'seen'")),
    "auto_item_by_a_key": gives(
        _state_of("def watch(trainer): seen[key + len('')] = trainer"), _unsaved("changes 'seen'")
    ),
    "auto_item_added_to": gives(
        _state_of("def watch(trainer): seen[key] += 1"), _unsaved("changes 'seen'")
    ),
    "auto_slice": gives(_state_of("def watch(trainer): seen[:] = []"), _unsaved("changes 'seen'")),
    "auto_item_deleted": gives(
        _state_of("def watch(trainer): del seen[key]"), _unsaved("changes 'seen'")
    ),
    "auto_global": gives(
        _state_of("def watch(trainer):\n    global key\n    key += 1"), _unsaved("sets 'key'")
    ),
    "auto_attribute": gives(
        _state_of("def watch(trainer): trainer.updater.lr = 1"), _unsaved("sets 'lr'")
    ),
    "auto_object": gives(
        _state_of(
            "class Watch:\n"
            "    def __init__(self): self.kept = []\n"
            "    def __call__(self, trainer): self.kept.append(1)\n"
            "watch = Watch()"
        ),
        _unsaved("changes 'kept'"),
    ),
    "auto_object_with_serialize": gives(
        _state_of(
            "class Watch:\n"
            "    def __call__(self, trainer): self.count = 1\n"
            "    def serialize(self, serializer): pass\n"
            "watch = Watch()"
        )
    ),
    "auto_reads": gives(
        _state_of(
            "def watch(trainer):\n    own = {}\n    own[seen[key]] = seen[0]\n    own['a'] = key\n"
            "    own.update(a=len(seen))"
        )
    ),
}

_INVALID = ("ArtifactError", "artifact_invalid", "a name of 1 to 255 bytes and a MIME type of at m")
_WRITE = "pathlib.Path('w.json').write_bytes(b'[1, 2]')\n"


def _noted(name: str, mimetype: str, encoding: str | None = None) -> Mapping[str, Any]:
    meta = {"artifact_id": "ID", "filename": name, "mimetype": mimetype, "encoding": encoding}
    return {"system": {"artifacts:ID": meta}}


ARTIFACTS = {
    "artifact": gives(
        _WRITE + "type(trial.upload_artifact('w.json'))",
        "<class 'str'>",
        uploads=["w.json application/json"],
        attributes=_noted("w.json", "application/json"),
    ),
    "artifact_by_path": gives(
        _WRITE + "uuid.UUID(trial.upload_artifact(pathlib.Path('.', 'w.json'))).version",
        "4",
        uploads=["w.json application/json"],
        attributes=_noted("w.json", "application/json"),
    ),
    "artifact_of_a_type": gives(
        _WRITE + "len(trial.upload_artifact('w.json', mimetype='text/x-w', encoding='br'))",
        "36",
        uploads=["w.json text/x-w"],
        attributes=_noted("w.json", "text/x-w", "br"),
    ),
    "artifact_packed": gives(
        "pathlib.Path('n.txt.gz').write_bytes(b''); len(trial.upload_artifact('n.txt.gz'))",
        "36",
        uploads=["n.txt.gz text/plain"],
        attributes=_noted("n.txt.gz", "text/plain", "gzip"),
    ),
    "artifact_without_a_type": gives(
        "pathlib.Path('weights').write_bytes(b'1'); len(trial.upload_artifact('weights'))",
        "36",
        uploads=["weights application/octet-stream"],
        attributes=_noted("weights", "application/octet-stream"),
    ),
    "artifact_that_is_not_there": raises(
        "trial.upload_artifact('none')", "builtins.FileNotFoundError"
    ),
    "artifact_of_a_folder": raises("trial.upload_artifact('.')", "builtins.IsADirectoryError"),
    "artifact_of_a_number": raises("trial.upload_artifact(1.5)", "builtins.TypeError"),
    "artifact_name": refused(
        "pathlib.Path('a\\nb').write_bytes(b''); trial.upload_artifact('a\\nb')", *_INVALID
    ),
    "artifact_type_too_long": refused(
        _WRITE + "trial.upload_artifact('w.json', mimetype='x' * 128)", *_INVALID
    ),
    "artifact_type_not_ascii": refused(
        _WRITE + "trial.upload_artifact('w.json', mimetype='x/ä')", *_INVALID
    ),
    "artifact_too_large": refused(
        "file = open('large', 'wb'); file.truncate((64 << 20) + 1); file.close()\n"
        "trial.upload_artifact('large')",
        "ArtifactError",
        "artifact_too_large",
        "'large' is larger than an artifact's 67108864 bytes",
    ),
}

CASES = {
    **REPORTS,
    **{f"suggest_{name}": case for name, case in SUGGESTIONS.items()},
    **{f"trial_{name}": case for name, case in TRIALS.items()},
    **ATTRIBUTES,
    **CHECKPOINTS,
    **AUTO,
    **ARTIFACTS,
}
