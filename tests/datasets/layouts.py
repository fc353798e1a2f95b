"""Small folders in the layouts in which the data sets come, written from their definitions."""

import zipfile

import h5py
import numpy as np

from tests.events import makers

TEST_USERS = range(24, 30)


def gesture_events(seed=0, count=4000, seconds=8):
    return makers.random_events(count, seed, end_us=int(seconds * 1e6))


def dvs128_aedat(folder, train=2, test=1, rows=None):
    """userNN_LIGHT.aedat of 8 s with gestures of 1 s; returns the rows of the label files."""
    folder.mkdir(parents=True, exist_ok=True)
    rows = rows or [
        (1, 1_000_000, 2_000_000),
        (8, 3_000_123, 4_500_000),
        (11, 5_000_000, 6_000_000),
    ]
    names = {
        "train": [f"user{n + 1:02}_led" for n in range(train)],
        "test": [f"user{n:02}_natural" for n, _ in zip(TEST_USERS, range(test), strict=False)],
    }
    for split, users in names.items():
        for n, name in enumerate(users):
            events = gesture_events(seed=n + 10 * (split == "test"))
            (folder / f"{name}.aedat").write_bytes(makers.aedat3(events))
            lines = ["class,startTime_usec,endTime_usec"] + [",".join(map(str, r)) for r in rows]
            (folder / f"{name}_labels.csv").write_text("\n".join(lines) + "\n")
        listed = "".join(f"{name}.aedat\n" for name in users)
        (folder / f"trials_to_{split}.txt").write_text(listed)
    return rows


def dvs128_tonic(folder, users=2):
    """ibmGestureTrain/userNN_LIGHT/CLASS.npy, (N, 4) float x, y, p, milliseconds."""
    for split in ("Train", "Test"):
        for n in range(users):
            place = folder / "DVSGesture" / f"ibmGesture{split}" / f"user{n + 1:02}_led"
            place.mkdir(parents=True)
            for class_id in (0, 7, 10):
                events = gesture_events(class_id + 20 * n, seconds=2)
                t = events["t"] // 1000 + 5000
                table = np.stack([events["x"], events["y"], events["p"], t], axis=1)
                np.save(place / f"{class_id}.npy", table.astype(np.float64))


def dvs128_spikingjelly(folder):
    """events_np/train/CLASS/userNN_LIGHT_N.npz with t, x, y, p."""
    for split in ("train", "test"):
        for class_id in range(11):
            place = folder / "events_np" / split / str(class_id)
            place.mkdir(parents=True)
            events = gesture_events(class_id, seconds=2)
            columns = {name: events[name] for name in "txyp"}
            np.savez(place / "user01_led_0.npz", **{**columns, "t": columns["t"] + 80_048_239})


def eye_3et(folder, sessions=("5_1", "7_4"), rows=57, split="train", seed=0, closed=(20, 21)):
    """train/SESSION/SESSION.h5 and label.txt; eyes closed in the rows `closed`."""
    rng = np.random.default_rng(seed)
    labels = {}
    for n, session in enumerate(sessions):
        place = folder / split / session
        place.mkdir(parents=True)
        events = makers.random_events(3000, seed + n, 480, 640, end_us=rows * 10_000)
        makers.write_hdf5(place / f"{session}.h5", events)
        table = np.stack([rng.integers(0, 640, rows), rng.integers(0, 480, rows)], axis=1)
        table = np.concatenate([table, np.isin(np.arange(rows), closed)[:, None]], axis=1)
        lines = [f"({x}, {y}, {c})" for x, y, c in table.tolist()]
        (place / "label.txt").write_text("\n".join(lines) + "\n")
        labels[session] = table
    return labels


BOX_DTYPE = np.dtype(  # of the toolbox: 40 bytes, four of them empty
    {
        "names": ["t", "x", "y", "w", "h", "class_id", "track_id", "class_confidence"],
        "formats": ["<i8", "<f4", "<f4", "<f4", "<f4", "<u4", "<u4", "<f4"],
        "offsets": [0, 8, 12, 16, 20, 24, 28, 32],
        "itemsize": 40,
    }
)


def gen4_boxes(seconds=1.0, seed=0, per_time=6):
    rng = np.random.default_rng(seed)
    times = np.arange(16_666, int(seconds * 1e6), 33_333)  # 30 a second
    boxes = np.zeros(len(times) * per_time, BOX_DTYPE)
    boxes["t"] = np.repeat(times, per_time)
    boxes["x"], boxes["y"] = rng.uniform(-50, 1250, len(boxes)), rng.uniform(-50, 700, len(boxes))
    boxes["w"], boxes["h"] = rng.uniform(1, 120, len(boxes)), rng.uniform(1, 120, len(boxes))
    boxes["class_id"] = rng.integers(0, 7, len(boxes))
    boxes["track_id"] = np.arange(len(boxes))
    return boxes


def gen4(folder, split="train", recordings=2, seconds=1.0, h5=False, old_names=False):
    """split/NAME_td.dat (or .h5) and NAME_bbox.npy."""
    place = folder / split
    place.mkdir(parents=True, exist_ok=True)
    for n in range(recordings):
        name = f"moorea_2019-02-15_000_td_{n}000000_{n + 1}000000"
        events = makers.random_events(5000, n, 720, 1280, end_us=int(seconds * 1e6))
        if h5:
            with h5py.File(place / f"{name}_td.dat.h5", "w") as file:
                for field in "txyp":
                    file[f"events/{field}"] = events[field].astype(np.int64)
                file["events/height"], file["events/width"] = 720, 1280
        else:
            header = b"% Width 1280\n% Height 720\n"
            (place / f"{name}_td.dat").write_bytes(makers.dat(events, header=header))
        boxes = gen4_boxes(seconds, n)
        if old_names:
            names = {"t": "ts", "class_confidence": "confidence"}
            boxes = boxes.view(
                {**_fields(boxes), "names": [names.get(f, f) for f in boxes.dtype.names]}
            )
        np.save(place / f"{name}_bbox.npy", boxes)


def _fields(boxes):
    fields = boxes.dtype.fields
    return {
        "formats": [fields[name][0] for name in boxes.dtype.names],
        "offsets": [fields[name][1] for name in boxes.dtype.names],
        "itemsize": boxes.dtype.itemsize,
    }


def kitti(folder, pictures=3):
    import PIL.Image

    rng = np.random.default_rng(0)
    for name in ("image_2", "label_2"):
        (folder / "training" / name).mkdir(parents=True)
    for n in range(pictures):
        pixels = rng.integers(0, 256, (37, 124, 3), np.uint8)
        PIL.Image.fromarray(pixels).save(folder / "training/image_2" / f"{n:06}.png")
        (folder / "training/label_2" / f"{n:06}.txt").write_text(
            f"Car 0.00 0 1.85 {10 + n}.0 5.0 {40 + n}.5 20.0 1 1 1 1 1 1 1\n"
            "DontCare -1 -1 -10 50.0 1.0 59.0 19.0 -1 -1 -1 -1000 -1000 -1000 -10\n"
            "Pedestrian 0.00 0 -0.20 70.0 10.0 80.0 30.0 1 1 1 1 1 1 1\n"
        )


def nmnist_events(number):
    return makers.random_events(200, number, 34, 34, end_us=300_000)


def nmnist_folder(folder, samples=6):
    for split in ("Train", "Test"):
        for n in range(samples):
            place = folder / split / str(n % 3)
            place.mkdir(parents=True, exist_ok=True)
            (place / f"{n + 1:05}.bin").write_bytes(makers.nmnist(nmnist_events(n)))


def nmnist_zip(path, samples=10):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        rows = "".join(f"{n + 1}\t{n % 10}\n" for n in range(samples))
        archive.writestr("labels.txt", "#sample\tclass\n" + rows)
        for n in range(samples):
            archive.writestr(f"{n + 1}.bin", makers.nmnist(nmnist_events(n)))


def csv_folder(folder):
    for n in range(4):
        (folder / f"{n}.aedat").write_bytes(makers.aedat3(makers.random_events(500, n)))
    (folder / "labels.csv").write_text(
        "file,label,start_us,end_us\n0.aedat,wave,,\n1.aedat,clap,50000,\n"
        "2.aedat,wave,20000,90000\n3.aedat,clap,0,\n"
    )
