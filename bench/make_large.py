"""Make the large files of the benchmarks, from seeded random data.

    python bench/make_large.py OUTDIR

- `bert_embedded.onnx`: the corpus's BERT graph with its 437 MB of weights inside the file.
- `external_1600mb.onnx` and its data file: the synthetic 1.6 GB model of the shared tools.

Files that exist already are kept.
"""

from __future__ import annotations

import random
import subprocess
import sys
from pathlib import Path

SHARED = Path(__file__).resolve().parents[2] / "shared"


def embed(source: Path, target: Path) -> None:
    """Copy a model, putting seeded random bytes where it refers to external data."""
    import onnx

    model = onnx.load(str(source), load_external_data=False)
    block = random.Random(7).randbytes(1 << 20)
    for tensor in model.graph.initializer:
        if tensor.data_location != onnx.TensorProto.EXTERNAL:
            continue
        length = next(int(entry.value) for entry in tensor.external_data if entry.key == "length")
        tensor.ClearField("external_data")
        tensor.ClearField("data_location")
        tensor.raw_data = (block * (length // len(block) + 1))[:length]
    target.write_bytes(model.SerializeToString())


def main() -> None:
    """Make what is missing."""
    folder = Path(sys.argv[1]).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    bert = folder / "bert_embedded.onnx"
    if not bert.exists():
        embed(SHARED / "corpus" / "bert_base_ts.onnx", bert)
    external = folder / "external_1600mb.onnx"
    if not external.exists():
        program = f"import make_scale, pathlib; make_scale.external(pathlib.Path({str(external)!r}), 1_600_000_000)"
        subprocess.run([sys.executable, "-c", program], cwd=SHARED / "tools", check=True)


if __name__ == "__main__":
    main()
