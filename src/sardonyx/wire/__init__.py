"""Read and write the protobuf messages of ONNX, within bounds and without a protobuf library."""

from sardonyx.wire.pieces import entries as entries
from sardonyx.wire.pieces import fixed as fixed
from sardonyx.wire.pieces import fixed32_bits as fixed32_bits
from sardonyx.wire.pieces import pieces as pieces
from sardonyx.wire.pieces import varints as varints
from sardonyx.wire.reader import Decoded as Decoded
from sardonyx.wire.reader import check_max_nesting as check_max_nesting
from sardonyx.wire.reader import decode as decode
from sardonyx.wire.schema import MAX_FILE_BYTES as MAX_FILE_BYTES
from sardonyx.wire.schema import Runs as Runs
from sardonyx.wire.writer import encode as encode
from sardonyx.wire.writer import header as header
from sardonyx.wire.writer import key as key
from sardonyx.wire.writer import varint as varint
