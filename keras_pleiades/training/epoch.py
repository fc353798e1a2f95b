"""What `fit` is given for one epoch: the batches that are left, and a word after each step."""

import keras


class AfterStep(keras.callbacks.Callback):
    """Calls `after_step(batch, logs, save)` after every step of `fit`."""

    def __init__(self, after_step, save):
        super().__init__()
        self.after_step, self.write = after_step, save

    def on_train_batch_end(self, batch, logs=None):
        """Pass the step's number and logs on."""
        self.after_step(batch, logs, self.save)

    def save(self):
        """Write the state, with the model's variables as they are after this step."""
        _ = self.model  # on JAX this brings the step's results into the model's variables
        self.write()


class RestOfEpoch(keras.utils.PyDataset):
    """The batches of an epoch from `start` on, each of a size that devices can share."""

    def __init__(self, data, start, devices):
        # Not the data's workers: Keras' own do not keep the order of batches where `fit` looks at
        # the first one beforehand. Data sets that work ahead do it themselves.
        super().__init__()
        self.data, self.start, self.devices = data, start, devices

    def __len__(self):
        return len(self.data) - self.start

    def __getitem__(self, index):
        batch = self.data[self.start + index]
        if self.devices == 1:
            return batch
        rows = len(batch[0]) // self.devices * self.devices
        if not rows:
            raise ValueError(
                f"A batch of {len(batch[0])} clips cannot be shared by {self.devices} devices. "
                "Choose another training.batch_size."
            )
        return tuple(part[:rows] for part in batch)
