"""BOLR observation records (SPEC 2)."""

import numpy as np

MAGIC = b"BOLR"
CAM_WIDTH, CAM_HEIGHT = 64, 36
PIXELS = CAM_WIDTH * CAM_HEIGHT

#: One record, packed little-endian, 14,628 bytes. Field order is the wire's order.
RECORD = np.dtype(
    [
        ("magic", "<u4"),
        ("tick", "<i8"),
        ("xyz", "<f8", (3,)),
        ("yaw", "<f4"),
        ("pitch", "<f4"),
        ("dead", "<i4"),
        ("hotbar_ids", "<i4", (9,)),
        ("hotbar_counts", "<i4", (9,)),
        ("hotbar_sel", "<i4"),
        ("container", "<i4"),
        ("inv_counts", "<i4", (9,)),
        ("blocks", "<i4", (256, 4)),
        ("logs", "<i4", (64, 3)),
        ("coal", "<i4", (32, 3)),
        ("cam", "<u2", (CAM_HEIGHT, CAM_WIDTH)),
        ("depth", "u1", (CAM_HEIGHT, CAM_WIDTH)),
        ("edge", "u1", (CAM_HEIGHT, CAM_WIDTH)),
    ]
)
RECORD_BYTES = 14_628
assert RECORD.itemsize == RECORD_BYTES
