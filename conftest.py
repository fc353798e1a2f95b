"""Set-up of every run: what cannot be imported here is not looked at for examples."""

import importlib.util

# Only the torch backend imports these.
collect_ignore_glob = (
    [] if importlib.util.find_spec("torch") else ["keras_pleiades/streaming/torch_*.py"]
)
