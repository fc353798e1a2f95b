"""One module a command: its name, its examples, its options, and what it does.

`NEEDS_KERAS` says whether it has `--backend`. Modules import keras_pleiades where they run.
"""

from keras_pleiades_cli.commands import (
    bench,
    demo,
    evaluate,
    export,
    info,
    list_networks,
    predict,
    simulate,
    train,
)

COMMANDS = (list_networks, info, demo, predict, evaluate, train, simulate, export, bench)
