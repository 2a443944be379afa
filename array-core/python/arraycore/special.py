"""The functions of scipy.special that arraycore has, as cupyx.scipy.special has them."""

from ._core.ufuncs import (
    cbrt,
    digamma,
    erf,
    erfc,
    erfcinv,
    erfcx,
    erfinv,
    exp2,
    expm1,
    gamma,
    gammaln,
    log1p,
    ndtr,
    ndtri,
    rint,
)
from ._math import special_functions as _functions
from ._math import special_series as _series
from ._math.axis_functions import i0
from ._math.elements import sinc
from ._math.special_functions import *  # noqa: F403
from ._math.special_series import *  # noqa: F403
from ._math.zeta import polygamma, zeta

psi = digamma
round = rint

__all__ = [
    "cbrt",
    "digamma",
    "erf",
    "erfc",
    "erfcinv",
    "erfcx",
    "erfinv",
    "exp2",
    "expm1",
    "gamma",
    "gammaln",
    "i0",
    "log1p",
    "ndtr",
    "ndtri",
    "polygamma",
    "psi",
    "round",
    "sinc",
    "zeta",
]
__all__ += _functions.__all__ + _series.__all__
