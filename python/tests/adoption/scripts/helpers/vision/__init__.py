from .models import MODELS
from .utils import accuracy, show

__all__ = ["MODELS", "accuracy", "show"]
