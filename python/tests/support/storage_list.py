"""Lists which of Optuna's own storage tests the storage of a server's studies cannot pass, and
why.
"""

from __future__ import annotations

from typing import NamedTuple

import pytest
from hyperflock import HyperflockError
from written_storage import NotCarried


class Reason(NamedTuple):
    """Why some tests fail, their names, and the versions of Optuna that contain them."""

    why: str
    raises: type[BaseException]
    versions: tuple[int, ...] = (4, 5)


KEPT = "The storage deletes no study. `hyperflock delete` deletes a study that has ended."
NAMES = "Several studies may have the same name."
TIMES = "Times are those of the server."
LATE = "The attributes of a trial come with its result. A trial that runs or waits has none."
WAITING = "A trial that waits has no parameters yet."
FINITE = "A curve has only finite numbers. NaN is not sent, and infinity is the largest number."

NOT_CARRIED: dict[str, Reason] = {
    "test_create_new_study_unique_id": Reason(KEPT, HyperflockError),
    "test_delete_study": Reason(KEPT, HyperflockError),
    "test_delete_study_after_create_multiple_studies": Reason(KEPT, HyperflockError),
    "test_create_new_study_with_name": Reason(NAMES, pytest.fail.Exception),
    "test_create_new_study_with_empty_name": Reason(NAMES, HyperflockError, (5,)),
    "test_create_new_trial_with_template_trial": Reason(TIMES, AssertionError),
    "test_get_trial": Reason(TIMES, AssertionError),
    "test_get_all_trials": Reason(TIMES, AssertionError),
    "test_set_trial_user_attr": Reason(LATE, KeyError),
    "test_set_trial_system_attr": Reason(LATE, KeyError),
    "test_set_and_get_trial_user_attr_for_floats": Reason(LATE, KeyError),
    "test_set_and_get_trial_system_attr_for_floats": Reason(LATE, KeyError),
    "test_get_trial_user_attrs": Reason(LATE, AssertionError),
    "test_get_trial_system_attrs": Reason(LATE, AssertionError),
    "test_get_trial_param_and_get_trial_params": Reason(WAITING, AssertionError),
    "test_get_all_trials_not_modified": Reason(WAITING, NotCarried),
    "test_set_trial_intermediate_value": Reason(FINITE, AssertionError),
    "test_set_trial_intermediate_value_for_floats": Reason(FINITE, AssertionError),
    "test_set_trial_state_values_for_values": Reason(WAITING, NotCarried, (4,)),
}
