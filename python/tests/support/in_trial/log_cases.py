"""Lists cases of ``trial.log``, of images, and of results that are dicts."""

from __future__ import annotations

from typing import Any

from in_trial.case import Case, gives, no_metric, refused, value


def _refused(body: str, code: str, message: str, **more: Any) -> Case:
    return refused(body, "SeriesError", code, message, **more)


_PNG = "png = hyperflock.Image(np.zeros((2, 3), np.uint8)).png\n"

ROWS = {
    "log": gives(
        "trial.log({'loss': 0.5, 'acc': 1}, step=3)",
        series={"loss": [(3, "0.5")], "acc": [(3, "1.0")]},
    ),
    "log_counts_steps_itself": gives(
        "[trial.log({'a': i}) for i in range(2)]; trial.log({'a': 2}, step=7); trial.log({'a': 3})",
        series={"a": [(0, "0.0"), (1, "1.0"), (7, "2.0"), (8, "3.0")]},
    ),
    "log_epoch": gives(
        "trial.log({'a': 1}, step=100, epoch=2); trial.log({}, epoch=2.5)",
        series={"a": [(100, "1.0")], "epoch": [(100, "2.0"), (101, "2.5")]},
    ),
    "log_sparse": gives(
        "trial.log({'a': 1}, 0); trial.log({'b': 2}, 0); trial.log({'b': 3}, 5)",
        series={"a": [(0, "1.0")], "b": [(0, "2.0"), (5, "3.0")]},
    ),
    "log_nothing": gives("trial.log({})"),
    "log_not_finite": gives(
        "trial.log({'a': math.nan, 'b': -math.inf, 'c': 10**400, 'd': np.float32('nan')})",
        series={
            "a": [(0, "nan")],
            "b": [(0, "-inf")],
            "c": [(0, "inf")],
            "d": [(0, "nan")],
        },
    ),
    "log_kinds": gives(
        "trial.log({'a': np.float32(0.5), 'b': np.int64(2), 'c': True, 'd': np.array([[0.25]]),"
        " 'e': fractions.Fraction(1, 4), 'f': types.SimpleNamespace(array=np.array(3)),"
        " 'g': np.bool_(False), 'h': decimal.Decimal('0.5')}, np.int64(1))",
        series={
            "a": [(1, "0.5")],
            "b": [(1, "2.0")],
            "c": [(1, "1.0")],
            "d": [(1, "0.25")],
            "e": [(1, "0.25")],
            "f": [(1, "3.0")],
            "g": [(1, "0.0")],
            "h": [(1, "0.5")],
        },
    ),
    "log_names": gives(
        "trial.log({'train/loss': 1, '損失 é😀': 2, 'x' * 128: 3, '__proto__': 4})",
        series={
            "train/loss": [(0, "1.0")],
            "損失 é😀": [(0, "2.0")],
            "x" * 128: [(0, "3.0")],
            "__proto__": [(0, "4.0")],
        },
    ),
    "log_largest_step": gives(
        "trial.log({'a': 1}, 2**53 - 1)", series={"a": [(2**53 - 1, "1.0")]}
    ),
    "log_beyond_the_largest_step": _refused(
        "trial.log({'a': 1}, 2**53 - 1); trial.log({'a': 1})",
        "series_step",
        "0 to 2^53 - 1, not 9007199254740992",
        series={"a": [(2**53 - 1, "1.0")]},
    ),
    "log_no_dict": _refused(
        "trial.log([('a', 1)])", "series_value", "a dict of names and values, not a list"
    ),
    "log_name_not_text": _refused("trial.log({1: 2})", "series_name", "can be shown, not 1"),
    "log_name_empty": _refused("trial.log({'': 2})", "series_name", "1 to 128 characters"),
    "log_name_too_long": _refused("trial.log({'x' * 129: 2})", "series_name", "1 to 128"),
    "log_name_control": _refused("trial.log({'a\\nb': 2})", "series_name", "can be shown"),
    "log_name_half_a_character": _refused("trial.log({'\\ud800': 2})", "series_name", "be shown"),
    "log_value_text": _refused(
        "trial.log({'a': '1'})",
        "series_value",
        "'a' must be a number or a hyperflock.Image, but is of type str",
    ),
    "log_value_none": _refused("trial.log({'a': None})", "series_value", "type NoneType"),
    "log_value_complex": _refused("trial.log({'a': 1j})", "series_value", "type complex"),
    "log_value_array": _refused("trial.log({'a': np.zeros(2)})", "series_value", "type ndarray"),
    "log_nothing_of_a_bad_row": gives(
        "try:\n    trial.log({'a': 1, 'b': 'x'})\n"
        "except ValueError as error:\n    caught = error\n"
        "trial.log({'a': 2}); caught.code",
        "'series_value'",
        series={"a": [(0, "2.0")]},
    ),
    "log_step_back": _refused(
        "trial.log({'a': 1}, 5); trial.log({'b': 1}, 4)",
        "series_step",
        "step 4 comes after step 5, but the steps of log must not go back",
        series={"a": [(5, "1.0")]},
    ),
    "log_step_twice": _refused(
        "trial.log({'a': 1}, 5); trial.log({'a': 2}, 5)",
        "series_step",
        "'a' has a value at step 5 already",
        series={"a": [(5, "1.0")]},
    ),
    "log_step_negative": _refused("trial.log({'a': 1}, -1)", "series_step", "not -1"),
    "log_step_float": _refused("trial.log({'a': 1}, 0.5)", "series_step", "not 0.5"),
    "log_step_bool": _refused("trial.log({'a': 1}, True)", "series_step", "not True"),
    "log_step_text": _refused("trial.log({'a': 1}, '1')", "series_step", "not '1'"),
    "log_epoch_text": _refused("trial.log({'a': 1}, epoch='1')", "series_value", "'epoch' must"),
    "log_epoch_twice": _refused(
        "trial.log({'epoch': 1}, epoch=1)", "series_name", "the epoch is given twice"
    ),
    "log_too_many_series": _refused(
        "trial.log({f's{i}': i for i in range(257)})",
        "series_count",
        "at most 256 series, but this would be the 257th",
    ),
    "log_as_many_series_as_there_may_be": gives(
        "[trial.log({f's{i}': 0 for i in range(256)}) for _ in range(3)][0]",
        series={f"s{i}": [(0, "0.0"), (1, "0.0"), (2, "0.0")] for i in range(256)},
    ),
    "log_is_no_report": gives("trial.log({'a': 1}); trial.should_prune()", "False",
                              series={"a": [(0, "1.0")]}),
    "log_after_resuming": gives(
        "trial.resume(); trial.log({'a': 1}); trial.checkpoint({})",
        "True",
        saved="{}",
        series={"a": [(21, "1.0")]},
        uploads=["tree 6 21"],
        attributes={"user": {"a": [1], "b": "saved"}},
    ),
    "log_without_resuming": gives(
        "trial.checkpoint({}); trial.log({'a': 1})",
        saved="{}",
        series={"a": [(0, "1.0")]},
        uploads=["tree 6 20"],
    ),
    "log_then_save": gives(
        "trial.log({'a': 1}, 9); trial.checkpoint({})",
        "True",
        series={"a": [(9, "1.0")]},
        uploads=["tree -1 9"],
    ),
}  # fmt: skip


def _noted(name: str) -> dict[str, object]:
    meta = {"artifact_id": "ID", "filename": name, "mimetype": "image/png", "encoding": None}
    return {"system": {"artifacts:ID": meta}}


IMAGES = {
    "image": gives(
        "trial.log({'val/sample': hyperflock.Image(np.zeros((2, 3)))}, step=7)",
        uploads=["val-sample@7.png image/png"],
        attributes=_noted("val-sample@7.png"),
    ),
    "image_with_numbers": gives(
        "trial.log({'a': 1, 'sample': hyperflock.Image(np.ones((3, 4, 5), np.float32))})",
        series={"a": [(0, "1.0")]},
        uploads=["sample@0.png image/png"],
        attributes=_noted("sample@0.png"),
    ),
    "image_of_bytes": gives(
        _PNG + "hyperflock.Image(bytearray(png)), hyperflock.Image(png).png == png",
        "(Image(3 x 2), True)",
    ),
    "image_shapes": gives(
        "shapes = [(4, 5), (4, 5, 1), (4, 5, 2), (4, 5, 3), (4, 5, 4), (3, 4, 5)]\n"
        "{str(hyperflock.Image(np.zeros(shape, kind))) for shape in shapes"
        " for kind in (np.uint8, bool, np.float16)}",
        "{'Image(5 x 4)'}",
    ),
    "image_no_png": _refused("hyperflock.Image(b'GIF89a')", "series_image", "these are no PNG"),
    "image_cut": _refused(_PNG + "hyperflock.Image(png[:20])", "series_image", "are no PNG"),
    "image_shape": _refused("hyperflock.Image(np.zeros(3))", "series_image", "the shape (3,)"),
    "image_dtype": _refused(
        "hyperflock.Image(np.zeros((2, 2), np.int32))", "series_image", "not of int32"
    ),
    "image_range": _refused(
        "hyperflock.Image(np.full((2, 2), 1.5))", "series_image", "values from 0 to 1"
    ),
    "image_nan": _refused(
        "hyperflock.Image(np.full((2, 2), np.nan))", "series_image", "values from 0 to 1"
    ),
    "image_text": _refused("hyperflock.Image('a.png')", "series_image", "not a str"),
    "image_side": _refused(
        "hyperflock.Image(np.zeros((1, 4097), bool))", "series_image", "not 4097 x 1"
    ),
    "image_too_large": _refused(
        "hyperflock.Image(np.random.default_rng(1).integers(0, 256, (700, 700, 3), np.uint8))",
        "series_image",
        "bytes as PNG, but may have 1048576",
    ),
    "image_of_a_series_of_numbers": _refused(
        "trial.log({'a': 1}); trial.log({'a': hyperflock.Image(np.zeros((2, 2)))})",
        "series_kind",
        "'a' was logged as numbers before, and now as an image",
        series={"a": [(0, "1.0")]},
    ),
    "number_of_a_series_of_images": _refused(
        "trial.log({'a': hyperflock.Image(np.zeros((2, 2)))}); trial.log({'a': 1})",
        "series_kind",
        "'a' was logged as images before, and now as a number",
        uploads=["a@0.png image/png"],
        attributes=_noted("a@0.png"),
    ),
    "image_too_many": gives(
        "one = hyperflock.Image(np.zeros((1, 1)))\n"
        "try:\n    trial.log({f'i{k}': one for k in range(65)})\n"
        "except hyperflock.SeriesError as error:\n    caught = error.code\ncaught",
        "'series_size'",
    ),
}  # fmt: skip

RESULTS = {
    "result_dict": value(
        "{'value': 0.5, 'n': 3, 'bad': math.nan}", 0.5,
        attributes={"summary": {"n": 3.0, "bad": "NaN"}},
    ),
    "result_dict_of_one": value("{'value': np.float32(0.5)}", 0.5),
    "result_dict_of_a_tuple": value(
        "{'value': (1, 2), 'n': np.int64(1)}", 1.0, 2.0, attributes={"summary": {"n": 1.0}}
    ),
    "result_dict_without_value": no_metric(
        "{'loss': 1}", "metric_not_number", "the objective returned a dict without 'value'"
    ),
    "result_dict_of_text": no_metric(
        "{'value': 1, 'n': 'x'}", "metric_not_number", "'n' in the objective's dict must be a num"
    ),
    "result_dict_of_numbers_as_names": no_metric(
        "{'value': 1, 2: 3}", "metric_not_number", "a name in the objective's dict is a string"
    ),
    "result_dict_too_large": no_metric(
        "{'value': 1, **{f'n{i}': i for i in range(65)}}",
        "summary_too_large",
        "at most 64 numbers next to its value",
    ),
}  # fmt: skip

CASES = {**ROWS, **IMAGES, **RESULTS}
