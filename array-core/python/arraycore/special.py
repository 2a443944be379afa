"""The functions of scipy.special that arraycore has, as cupyx.scipy.special has them."""

from ._core.ufuncs import (
    digamma,
    erf,
    erfc,
    erfcinv,
    erfcx,
    erfinv,
    gamma,
    gammaln,
    ndtr,
    ndtri,
)
from ._math.axis_functions import i0
from ._math.zeta import polygamma, zeta

psi = digamma

__all__ = [
    "digamma",
    "erf",
    "erfc",
    "erfcinv",
    "erfcx",
    "erfinv",
    "gamma",
    "gammaln",
    "i0",
    "ndtr",
    "ndtri",
    "polygamma",
    "psi",
    "zeta",
]
