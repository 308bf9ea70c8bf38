# What other extension modules of the package may cimport.
from neardup.libneardup cimport nd_error, nd_hooks, nd_options, nd_status, nd_summary

cdef class Options:
    cdef nd_options *c

cdef int check(nd_status status, const nd_error *err) except -1

# A call of the library that may take long: runs in a thread of its own without
# the GIL, so that Ctrl-C reaches the caller.  A subclass overrides `work`.
cdef class Job:
    cdef readonly Options options
    cdef object progress
    cdef object failure
    cdef nd_hooks hooks
    cdef volatile int stop
    cdef nd_summary summary
    cdef nd_error err
    cdef nd_status work(self) noexcept nogil
