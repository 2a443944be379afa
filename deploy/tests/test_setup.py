"""Tests how steps find out which system packages are missing, with Debian's own dpkg."""

import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent


def missing(*packages: str) -> list[str]:
    """Return those of the packages that a step would install. The function is called under
    ``set -e``, as in a step.
    """
    script = f"""
        set -e
        . tests/suites/shell.sh
        mapfile -t missing < <(apt_missing {" ".join(packages)})
        printf '%s\\n' "${{missing[@]}}"
    """
    done = subprocess.run(["bash", "-c", script], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


def test_a_package_that_dpkg_does_not_know_is_missing() -> None:
    assert missing("bash", "hyperflock-no-such-package") == ["hyperflock-no-such-package"]


def test_an_installed_package_is_not_missing() -> None:
    assert missing("bash", "dpkg") == []
