"""Write docs/conformance.md: every rule of the import, and the tests that hold it.

A test belongs to a rule by its name: `test_w26_w27_text_that_is_not_utf8_is_refused` holds W26 and W27. Run it after
adding or renaming such a test:

    python tools/gen_conformance.py            # write the page
    python tools/gen_conformance.py --check    # exit with status 1 when a rule has no test or the page is stale
"""

from __future__ import annotations

import argparse
import ast
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "conformance.md"

GROUPS = {
    "W": "Wire format",
    "A": "Model and attributes",
    "T": "Tensors",
    "G": "Graph resolution",
    "E": "External data",
    "M": "Memory and lifetime",
    "R": "Errors",
    "D": "Differential dump and hostile files",
}

RULES_TEXT = """
W01 the largest 32-bit key is read
W02 a key over 32 bits is refused
W03 field number 0 is refused
W04 groups are refused, balanced ones too
W05 an end of group is refused
W06 wire type 6 is refused
W07 wire type 7 is refused
W08 unknown fields are skipped by the width of their wire type
W09 a fixed-width field cut short is refused
W10 ten varint bytes ending in 1 are minus one
W11 a tenth varint byte of 0 is read
W12 a tenth varint byte of 2 is refused
W13 an eleventh varint byte is refused
W14 a varint cut by the end of the data is refused
W15 a varint cut by the end of its message is refused
W16 an overlong varint is read
W17 a padded key is read, up to ten bytes
W18 a length one past the remainder is refused
W19 an absurd length is refused and allocates nothing
W20 a length past the parent is refused even inside the file
W21 length 0 is read for text, bytes, messages and packed runs
W22 int32 keeps the low 32 bits
W23 a negative int32 is read
W24 an enum keeps the low 32 bits
W25 int64 and uint64 keep all 64 bits
W26 text that is not UTF-8 is refused with offset and path
W27 overlong UTF-8, surrogates and what lies above U+10FFFF are refused
W28 bytes fields take any bytes
W29 NUL in a name is read
W30 packed numbers are read
W31 unpacked numbers are read
W32 packed and unpacked numbers mix, in order
W33 packed runs concatenate
W34 a packed run of fixed-width numbers with a ragged length is refused
W35 a varint cut at the end of its packed run is refused
W36 a repeated number with a third wire type is skipped
W37 unknown fields are skipped in every message
W38 a known field with another wire type counts as absent
W39 of a repeated singular number the last counts
W40 of a repeated singular text or bytes the last counts, an empty one too
W41 a repeated singular message replaces and does not merge
W42 of the members of a oneof the last counts
W43 content that is replaced is still checked
W44 nesting at the limit is read, one level more is refused
W45 a nesting limit outside 8 to 250 is refused as an argument
W46 a graph in an attribute of a graph costs three levels
W47 unknown payloads are skipped without looking inside
W48 the nesting limit holds in types and functions
W49 depth 250 needs no Python stack
W50 an empty file is an empty message, and no model
W51 2^31 bytes are refused before reading
W52 garbage behind the model is refused
W53 every prefix of a model loads or is refused
A01 a missing ir_version is refused
A02 an ir_version below 3 is refused
A03 ir_version 3 is read
A04 an ir_version of the future is read
A05 a model without a graph is refused
A06 an empty graph is read
A07 the kind of an attribute without a type is that of the field that is set
A08 of several fields the first in the fixed order gives the kind
A09 an attribute without type, value and reference is refused
A10 an absent scalar reads as 0 or empty
A11 an absent tensor, graph, sparse tensor or type is refused
A12 a list without entries is an empty list
A13 the declared kind rules over another field that is set
A14 a value beside a reference is ignored
A15 an explicit type 0 is an absent type
A16 an unknown attribute type is refused
A17 two attributes of one name are refused
A18 an attribute without a name is refused
A19 a TypeProto without a member is no type
A20 a tensor type without a shape has unknown rank
A21 an empty shape is rank 0
A22 a dim with neither value nor name is unknown
A23 an empty dim name is unknown
A24 a negative dim in a type is unknown, with an issue
A25 element type 0 is unknown, above 28 is unsupported
A26 map, sequence, optional, opaque and sparse types are read
T01 each element type is read from raw_data
T02 element type 0 with elements is refused
T03 element type 29 is unsupported
T04 a negative dim is refused
T05 no dims are a scalar
T06 a dim of 0 needs no data
T07 more than 2^60 elements are refused
T08 a dim of 0 makes any product 0
T09 the limit on tensor bytes is decided from the dims alone
T10 a tensor at the limit on bytes is not refused
T11 each element type has its width
T12 sub-byte elements round up to whole bytes
T13 external comes before raw, raw before typed
T14 raw and typed data together are refused
T15 external and other data together are refused
T16 two typed fields are refused
T17 elements without data are refused
T18 empty raw_data is data
T19 data location 0 is the default
T20 an unknown data location is refused
T21 external entries without the location are ignored, with an issue
T22 raw data one byte short or long is refused
T23 a raw bool of 2 is kept
T24 raw data is a view of the input
T25 raw data is not byte-swapped
T26 float_data holds float
T27 float_data holds complex64 in pairs
T28 double_data holds double and complex128
T29 int64_data holds int64
T30 uint64_data holds uint64
T31 uint64_data holds uint32 in the low bits
T32 int32_data holds int32
T33 int32_data holds 16-bit types in the low bits
T34 int32_data holds 8-bit types in the low bits
T35 int32_data holds bool: what is not 0 after truncation
T36 int32_data holds 4-bit types as packed bytes
T37 int32_data holds 2-bit types as packed bytes
T38 int32_data holds 6-bit types one by one, repacked
T39 bits above a 6-bit element are masked
T40 a typed field that does not belong to the type is refused
T41 a wrong number of typed entries is refused
T42 NaN payloads and -0.0 keep their bits
T43 a string tensor has an entry per element
T44 a string tensor with raw data is refused
T45 a string tensor with external data is refused
T46 string data on a numeric type is refused
T47 string entries need not be UTF-8
T48 segments are unsupported
T49 a sparse tensor is kept as written
T50 a sparse tensor is never made dense
G01 an input without a name is refused
G02 a second input of one name is refused
G03 an initializer named like an input is its default
G04 a second default is refused
G05 a second initializer of one name is refused
G06 an initializer without a name is refused
G07 a sparse initializer may repeat no name
G08 a node output may repeat no name
G09 an output without a name is omitted
G10 an input without a name is omitted and keeps its place
G11 values come as inputs, initializers, sparse initializers, node outputs
G12 an undefined input is refused, naming the node
G13 an undefined graph output is refused
G14 a graph output may be an input or initializer
G15 a graph output without a name is refused
G16 a node without a name is named by index and operator
G17 a body sees outer inputs, initializers and node outputs
G18 a body sees values of nodes later in the file
G19 an inner definition shadows an outer one
G20 captures are the outer values read, each once, in order
G21 a capture from two levels up is one at both levels
G22 a captured output counts
G23 lists of graphs are resolved too
G24 sibling bodies do not see each other
G25 a body that reads its own node's output is a cycle
G26 inner names do not leak
G27 defaults of inputs work in bodies
G28 the empty domain and ai.onnx are one
G29 a domain that is not imported is refused
G30 the opset version of a node is that of its domain, in bodies too
G31 no imports and no nodes are fine
G32 two imports of one domain must agree
G33 faults in function bodies wait
G34 a type comes from input, then output, then value_info
G35 value_info never overrides
G36 value_info of an unknown name is ignored
G37 of two value_infos the first with a type counts
G38 a declared output type fills an untyped node output
G39 an initializer has its own type
G40 sorted nodes keep their order
G41 unsorted nodes come by smallest file index
G42 the flag is set only when the order changed
G43 reads of bodies count as dependencies
G44 cycles are refused
G45 each body is sorted, with its own flag
G46 a long reversed chain is sorted in n log n, without recursion
G47 users come in order, each once
G48 readers in bodies count as the outer node
G49 graph outputs are not users
G50 functions keep all they say and are not expanded
G51 two functions of one key are refused
E01 a missing location is refused
E02 an empty location is refused
E03 NUL in a location is refused
E04 a leading slash is refused
E05 a leading backslash is refused
E06 a drive letter is refused everywhere
E07 a `..` segment is refused
E08 a `..` segment between backslashes is refused everywhere
E09 dots that are no segment of their own are fine
E10 `./` and doubled slashes are fine
E11 names need not be ASCII
E12 a link to a file inside is followed
E13 a link to a file outside is refused
E14 a folder link that leaves is refused
E15 a loop of links is refused
E16 the model's folder may itself be reached by a link
E17 a folder whose name begins like the model's is outside
E18 folders, fifos, devices and sockets are refused without blocking
E19 a missing file is ExternalData
E20 a file that may not be read is Io
E21 offset is 0 and length is as expected when absent
E22 offset and length are ASCII digits, nothing else
E23 leading zeros are fine
E24 2^63 and more are refused
E25 a range up to the end of the file is read, one byte more refused
E26 a sum over 64 bits does not wrap
E27 a length other than expected is refused
E28 no elements at the end of a file, or of an empty one, are fine
E29 the checksum is ignored
E30 an unknown key is ignored, with an issue
E31 a repeated key is refused
E32 locations are relative to the model file's folder
E33 bytes and streams need a folder to be named
E34 external tensors in attributes, bodies, functions and sparse parts obey the same rules
E35 one file is mapped once, however it is spelled
E36 an unaligned offset is read right
E37 without mapping only the range is read
E38 a file that shrinks after mapping is documented, not defended against
M01 up to 1 MiB is read, more is mapped
M02 tensors of a mapped model share the map
M03 bytes are viewed in place and kept alive
M04 typed data gets an array of its own
M05 access after close is refused
M06 close twice is harmless
M07 a copy outlives close
M08 views are read-only
M09 a file can be replaced or deleted after close
R01 every bad input raises one exception type with a kind
R02 the kind is one of five
R03 the error names the input
R04 the offset is from the start of the file, however deep
R05 the field path is exact for every message
R06 a missing file, or a folder, is Io
R07 no other exception escapes
R08 time and memory are bounded by the size of the input
D01 every backend test model is read
D02 the dump shows all that the model says
D03 the dump equals the one made from the onnx package alone
D04 floats are bit patterns
D05 the hostile files are what their generator writes
D06 each hostile file is refused with the kind in its name
"""

RULES = {line[:3]: line[4:] for line in RULES_TEXT.strip().splitlines()}
"""Id to what it asks, in a few words."""

NAMED = re.compile(r"test((?:_[a-z]\d\d)+)_")


def rules_of(name: str) -> list[str]:
    """Return the ids at the front of a test's name."""
    found = NAMED.match(name)
    return [one.upper() for one in found[1].split("_")[1:]] if found else []


def tests_by_rule(folder: Path) -> dict[str, list[tuple[str, str]]]:
    """Find the tests of each rule: (path below `folder`, name)."""
    found: dict[str, list[tuple[str, str]]] = {rule: [] for rule in RULES}
    for path in sorted(folder.rglob("test_*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef):
                for rule in rules_of(node.name):
                    found.setdefault(rule, []).append((path.relative_to(folder).as_posix(), node.name))
    return found


def page(found: dict[str, list[tuple[str, str]]]) -> str:
    """Write the page."""
    lines = [
        "# Conformance",
        "",
        f"The {len(RULES)} rules of the import, and the tests that hold each of them. Written by",
        "`tools/gen_conformance.py` from the names of the tests; do not edit.",
    ]
    for letter, title in GROUPS.items():
        lines += ["", f"## {letter}: {title}", "", "| | rule | tests |", "|---|---|---|"]
        for rule, text in RULES.items():
            if rule[0] == letter:
                tests = "<br>".join(f"[`{name}`](../tests/{path})" for path, name in sorted(set(found[rule])))
                lines.append(f"| {rule} | {text} | {tests} |")
    return "\n".join(lines) + "\n"


def main(arguments: list[str] | None = None) -> int:
    """Write or check the page; return the exit status."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--check", action="store_true", help="compare instead of writing")
    check: bool = parser.parse_args(arguments).check
    found = tests_by_rule(ROOT / "tests")
    text = page({rule: found[rule] for rule in RULES})
    missing = [rule for rule in RULES if not found[rule]]
    strange = [rule for rule in found if rule not in RULES]
    if missing:
        print(f"{len(missing)} rules without a test: {' '.join(missing)}")
    if strange:
        print(f"tests of rules that do not exist: {' '.join(strange)}")
    if check:
        stale = not PAGE.is_file() or PAGE.read_text(encoding="utf-8") != text
        print(f"{PAGE.name} is {'not what would be written' if stale else 'current'}")
        return 1 if stale or missing or strange else 0
    PAGE.parent.mkdir(exist_ok=True)
    PAGE.write_text(text, encoding="utf-8")
    print(f"wrote {PAGE.relative_to(ROOT)}: {len(RULES)} rules, {sum(map(len, found.values()))} tests")
    return 0


if __name__ == "__main__":
    sys.exit(main())
