"""Fill a corpus with seeds: the hostile files and small models for `model`, TensorProtos of every kind for `tensor`.

    python seeds.py model|tensor FOLDER

Models of up to 4,096 bytes are taken from the repository, from the shared corpus when that is beside it, and from the
onnx package when that is installed.
"""

from __future__ import annotations

import hashlib
import struct
import sys
from collections.abc import Iterator
from pathlib import Path

from mutate import packed

ROOT = Path(__file__).resolve().parent.parent
LARGEST = 4096


def models() -> Iterator[bytes]:
    """Small files to start from."""
    folders = [ROOT / "tests", ROOT / "examples", ROOT.parent / "shared" / "cases", ROOT.parent / "shared" / "corpus"]
    try:
        import onnx.backend.test

        folders.append(Path(onnx.backend.test.__file__).parent / "data")
    except ImportError:
        pass
    for folder in folders:
        for path in sorted(folder.rglob("*.onnx")):
            if path.stat().st_size <= LARGEST:
                yield path.read_bytes()


def tensors() -> Iterator[bytes]:
    """One or two TensorProtos per element type: raw data, and the typed field that holds it."""
    bits = (0, 32, 8, 8, 16, 16, 32, 64, 0, 8, 16, 64, 32, 64, 64, 128, 16, 8, 8, 8, 8, 4, 4, 4, 8, 2, 2, 6, 6)
    for code in range(30):
        head = b"\x08\x03" + packed(2 << 3) + packed(code)
        if code == 8:
            yield head + b"\x32\x01a\x32\x00\x32\x02\xff\xfe"
            continue
        size = (3 * bits[code] + 7) // 8 if code < len(bits) else 3
        yield head + b"\x4a" + packed(size) + bytes(range(size))
        if code in (1, 14):
            yield head + b"\x22" + packed(12) + struct.pack("<3f", 1, -0.0, float("nan"))
        elif code in (11, 15):
            yield head + b"\x52" + packed(24) + struct.pack("<3d", 1, -0.0, float("nan"))
        else:
            field = 7 if code == 7 else 11 if code in (12, 13) else 5
            run = packed(1) + packed(2) + packed(2**64 - 1)
            yield head + packed(field << 3 | 2) + packed(len(run)) + run
    yield b"\x10\x01\x70\x01\x6a\x0d\x0a\x08location\x12\x01w"


def main() -> None:
    target, folder = sys.argv[1], Path(sys.argv[2])
    for seed in models() if target == "model" else tensors():
        (folder / hashlib.sha256(seed).hexdigest()[:16]).write_bytes(seed)


if __name__ == "__main__":
    main()
