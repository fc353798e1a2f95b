"""A class a frame, as most frames of the last moments voted."""

import collections

from keras_pleiades_cli.answers.row import Reader, in_words, rounded, row_of


class Classes(Reader):
    """Reads a classifier's logits.

    The label is the paper's: that of most frames in the window. The confidence is the mean, over
    the same frames, of the probability that the network gives to it.

    Args:
        labels: A name for each class.
        dt: Bin size in microseconds.
        window_us: Length of the window.
    """

    columns = ("t_us", "segment", "ready", "label", "confidence")

    def __init__(self, labels: list[str], dt: int, window_us: int):
        from keras_pleiades import decode

        super().__init__()
        self.labels = labels
        self._majority = decode.MajorityFilter(window_us, dt)
        self._probabilities = collections.deque(maxlen=self._majority.frames)
        self.forget()

    def restart(self) -> None:
        """Forget the votes."""
        self._majority.reset()
        self._probabilities.clear()

    def answer(self, prediction) -> dict:
        """Return label and confidence."""
        from scipy.special import softmax

        self._probabilities.append(softmax(prediction.output.astype("float64")))
        label = self._majority.update(prediction.output)
        confidence = sum(one[label] for one in self._probabilities) / len(self._probabilities)
        return row_of(prediction, label=self.labels[label], confidence=rounded(confidence))

    def changed(self, before: dict, row: dict) -> bool:
        """Return whether the label changed."""
        return before["label"] != row["label"]

    def text(self, row: dict) -> str:
        """Return a row in words."""
        return f"{row['label']:<28}{row['confidence']:.2f}"

    def forget(self) -> None:
        """Forget what was counted."""
        self._frames, self._confidence = collections.Counter(), collections.Counter()

    def count(self, row: dict) -> None:
        """Count a row."""
        self._frames[row["label"]] += 1
        self._confidence[row["label"]] += row["confidence"]

    def summary(self) -> dict:
        """Return the most frequent label and the share of each."""
        total = self._frames.total()
        label, frames = self._frames.most_common(1)[0]
        return {
            "label": label,
            "share": rounded(frames / total),
            "confidence": rounded(self._confidence[label] / frames),
            "labels": {name: rounded(n / total) for name, n in self._frames.most_common()},
        }

    def summary_text(self) -> str:
        """Return the summary in words."""
        found = self.summary()
        return (
            f"{found['label']}: {found['share']:.0%} of {in_words(self.counted, 'frame')}, "
            f"mean confidence {found['confidence']:.2f}"
        )

    def draw(self, canvas, row: dict) -> None:
        """Draw nothing over the events: the label stands below."""
