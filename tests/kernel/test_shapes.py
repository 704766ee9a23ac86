"""What remains of a line when everything that varies is masked."""

import numpy as np
import pytest

from mqlab.kernel import vectors
from mqlab.kernel.counting import fine
from mqlab.kernel.vectors import Lines


@pytest.mark.parametrize(
    ("beginning", "shape"),
    [
        ("INFO Rolled new log segment at offset 4711 in 3 ms.", "INFO Rolled new log segment at offset # in # ms."),
        ("WARN to node 10.41.7.10:21883 lost", "WARN to node # lost"),
        ("member worker-1-58e6a5b4-0d53-4f8a-9d7e-0123456789ab left", "member worker-<id> left"),
        ("member worker-abcdefab-0d53-4f8a-9d7e-0123456789ab left", "member worker-<id> left"),
        ("member stock-sync-1-58e6a5b4-0d5", "member stock-sync-<id>"),
        ("member stock-sync-1-58e", "member stock-sync-<id>"),
        ("member worker-1-12345678-0d53-4f8a-9d7e-0123456789ab left", "member worker-<id> left"),
        ("topic with id q1J7xBzqTUqg5v0aTv3H1A is new", "topic with id <id> is new"),
        ("partition t-12 of orders-3", "partition t-# of orders-#"),
        (",850 WARN  [main] Sender", "WARN  [main] Sender"),
        (".092412 ERROR publish failed id=n-0000204", "ERROR publish failed id=n-#"),
        ("\tat org.a.B.c(B.java:12)", "…"),
        ("\t... 7 more", "…"),
        ("took 1.5 s, 1,024 bytes", "took # s, # bytes"),
        ("epoch 3-4 and t-1-2", "epoch #-# and t-#-#"),
    ],
)
def test_a_shape_masks_numbers_ids_and_addresses(beginning, shape):
    (rough,) = vectors.rough(Lines.of(beginning.encode()), np.zeros(1, np.int64))
    assert fine(rough) == shape


def test_a_shape_is_made_of_80_bytes_behind_the_date_and_holds_no_secret():
    lines = Lines.of(f"2026-11-21 12:00:00,000 login password=x {'é' * 99}".encode())
    (rough,) = vectors.rough(lines, vectors.headers(lines).behind)
    assert rough == f",# login password=x {'é' * 29}"
    assert fine(rough) == f"login password=[masked] {'é' * 29}"
