# Random numbers by counter (splitmix64): a draw depends on a key and a number alone, so neither
# the order of draws nor the number of threads can change one.

from libc.stdint cimport uint64_t


cdef inline uint64_t mixed(uint64_t z) noexcept nogil:
    """Return 64 well-mixed bits of a 64-bit state."""
    z += 0x9E3779B97F4A7C15ULL
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL
    return z ^ (z >> 31)


cdef inline double uniform(uint64_t key, uint64_t counter) noexcept nogil:
    """Return draw number `counter` of the stream `key`, in [0, 1)."""
    return <double>(mixed(key ^ mixed(counter)) >> 11) / 9007199254740992.0
