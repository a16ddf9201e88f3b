"""Write docs/codes.md: every code an error or issue can have, by kind.

python tools/gen_codes_doc.py            # write the page
python tools/gen_codes_doc.py --check    # exit with status 1 when the page is stale
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from sardonyx.errors import CODES, ErrorKind

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "codes.md"

MEANINGS = {
    ErrorKind.Malformed: "The bytes are not valid protobuf.",
    ErrorKind.InvalidModel: "Valid protobuf, but not a valid model.",
    ErrorKind.Unsupported: "A valid model that is beyond what is read, or over a limit that the caller set.",
    ErrorKind.ExternalData: "Weights in another file are not where, or not what, the model says.",
    ErrorKind.Io: "The operating system says no, or the model was closed.",
}


def page() -> str:
    """Write the page."""
    lines = [
        "# Error codes",
        "",
        "Every error and issue has a kind and a code: `error.kind`, `error.code`. Codes never change their meaning.",
        "Written by `tools/gen_codes_doc.py` from `sardonyx.CODES`; do not edit.",
    ]
    for kind, meaning in MEANINGS.items():
        lines += ["", f"## {kind.value}", "", meaning, "", "| code | meaning |", "|---|---|"]
        lines += [f"| `{name}` | {code.sentence} |" for name, code in sorted(CODES.items()) if code.kind is kind]
    return "\n".join(lines) + "\n"


def main(arguments: list[str] | None = None) -> int:
    """Write or check the page; return the exit status."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--check", action="store_true", help="compare instead of writing")
    check: bool = parser.parse_args(arguments).check
    text = page()
    if check:
        stale = not PAGE.is_file() or PAGE.read_text(encoding="utf-8") != text
        print(f"{PAGE.name} is {'not what would be written' if stale else 'current'}")
        return int(stale)
    PAGE.parent.mkdir(exist_ok=True)
    PAGE.write_text(text, encoding="utf-8")
    print(f"wrote {PAGE.relative_to(ROOT)}: {len(CODES)} codes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
