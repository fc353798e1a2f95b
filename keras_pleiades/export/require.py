"""Asks for a package that only some exports need."""

import importlib
from types import ModuleType


def require(package: str, extra: str) -> ModuleType:
    """Import a package, or say which extra of keras_pleiades brings it."""
    try:
        return importlib.import_module(package)
    except ImportError as error:
        raise ImportError(
            f"This export needs the package {package!r}, which cannot be imported here ({error}): "
            f"pip install 'keras-pleiades[{extra}]'"
        ) from error
