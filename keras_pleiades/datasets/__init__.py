"""Data sets: recordings and what they show, as Keras takes them."""
