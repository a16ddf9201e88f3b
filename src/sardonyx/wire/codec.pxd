# C types for codec.py; that file says what everything means.
cimport cython

ctypedef const unsigned char* Bytes

cdef int TEXTS, TEXT, CHECKED, SHARED, SHAREDS, MESSAGES, MESSAGE
cdef int INTS_PACKED, SPAN, SPANS, CHECKED_TEXT, BYTES, FLOATS_PACKED
cdef int RUN_VARINTS, RUN_FIXED32S, RUN_FIXED64S, SKIP_LENGTH, LAST_LENGTH
cdef int INT, INT32, INTS, RUN_VARINT, SKIP_VARINT, LAST_VARINT
cdef int FLOAT, FLOATS, RUN_FIXED32, SKIP_FIXED32, LAST_FIXED32
cdef int RUN_FIXED64, SKIP_FIXED64, LAST_FIXED64
cdef int BAD_FIELD, BAD_WIRE
cdef int SHARED_SIZE, CHECKED_SIZE

@cython.locals(last=Py_ssize_t, stop=Py_ssize_t)
cdef Py_ssize_t varint_end(Bytes data, Py_ssize_t pos, Py_ssize_t end) except -1

@cython.locals(value="unsigned long long")
cdef unsigned long long varint_value(Bytes data, Py_ssize_t pos, Py_ssize_t stop) noexcept

cdef long long signed64(unsigned long long value) except? -1

@cython.locals(low="unsigned int")
cdef long long signed32(unsigned long long value) except? -1

cdef str text_of(object raw, Py_ssize_t pos)

@cython.locals(high="unsigned char", index=Py_ssize_t)
cdef bint is_ascii(Bytes data, Py_ssize_t pos, Py_ssize_t end) noexcept

@cython.locals(key="unsigned char", size=Py_ssize_t)
cdef bint is_plain_entry(Bytes data, Py_ssize_t pos, Py_ssize_t end) noexcept

cdef object check_text(Bytes data, Py_ssize_t pos, Py_ssize_t end)

@cython.locals(stop=Py_ssize_t)
cdef object packed_ints(Bytes data, Py_ssize_t pos, Py_ssize_t end, list into)

@cython.locals(stop=Py_ssize_t, count=Py_ssize_t)
cdef Py_ssize_t count_varints(Bytes data, Py_ssize_t pos, Py_ssize_t end) except -1

@cython.locals(
    at=size_t, room=size_t, stop=size_t, low="unsigned long long", byte="unsigned long long",
    value="unsigned long long", shift=int,
)
cpdef size_t narrow_varints(
    const unsigned char[::1] data, size_t pos, size_t end, unsigned char[::1] into, size_t width, bint truth
) except? 0

cdef object keep_unknown(dict fields, Py_ssize_t start, Py_ssize_t end)

@cython.locals(
    replaced=bint, known=bint, at=Py_ssize_t, begin=Py_ssize_t, action=int, key="unsigned long long",
    value="unsigned long long", size="unsigned long long", width="unsigned long long",
    fields=dict, stack=list, texts=dict, checked=set, memos=dict, memo=dict, rivals=tuple, child=type, name=str,
    below=list, raw=bytes, text=str,
)
cdef bint parse(
    Bytes data, Py_ssize_t pos, Py_ssize_t end, object root, list table, tuple shared, Py_ssize_t max_nesting
) except -1

cpdef bint run(
    const unsigned char[::1] data, Py_ssize_t start, Py_ssize_t end, object root, list table, tuple shared,
    Py_ssize_t max_nesting,
) except -1
