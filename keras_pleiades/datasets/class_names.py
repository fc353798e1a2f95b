"""Names of classes that real and simulated data sets share, in the order of their numbers."""

# DVS128 Gesture without "other", as the authors' checkpoint has them.
GESTURES = (
    "hand clapping",
    "right hand wave",
    "left hand wave",
    "right arm clockwise",
    "right arm counter-clockwise",
    "left arm clockwise",
    "left arm counter-clockwise",
    "arm roll",
    "air drums",
    "air guitar",
)
# Prophesee GEN4 1 Mpx.
ROAD_USERS = (
    "pedestrian",
    "two wheeler",
    "car",
    "truck",
    "bus",
    "traffic sign",
    "traffic light",
)
