"""The command `keras-pleiades`.

A package beside `keras_pleiades`, because importing that one imports Keras, which takes seconds:
it must, so that `keras.saving.load_model` knows the layers. Nothing here imports it before a
command needs it, so that `--help`, `list` and a mistyped option are answered at once.
"""
