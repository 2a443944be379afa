"""Makes Chainer 7.8.1 and 5.4.0, unmodified, run on today's Python and NumPy.

    import hyperflock.chainer      # before chainer
    import chainer

The import installs the patches with which devices run Chainer: names that NumPy removed, stand-ins
for modules that no longer exist, and corrections of functions whose result would differ. Each patch
takes effect when Chainer's module is imported. The patches work on NumPy 1.26 and 2 and on Python
3.10 and newer. In a trial they are there already, and the import does nothing. Import this module
on the thread that imports Chainer; a second import does nothing.

Raises
------
ImportError
    Chainer is not installed.
"""

from hyperflock._trial.elsewhere import in_trial

if not in_trial():
    import importlib.util

    if importlib.util.find_spec("chainer") is None:
        raise ImportError(
            "Chainer is not installed, and PyPI has no wheel of it; a release has one next to "
            "hyperflock's wheel: pip install --find-links FOLDER_OF_THE_RELEASE "
            "'hyperflock[chainer]'",
            name="chainer",
        )

    from hyperflock._execution.worker import import_worker

    import_worker()
    from hyperflock_worker import compat

    compat.install()
