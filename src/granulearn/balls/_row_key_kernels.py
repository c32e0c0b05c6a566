"""Compiled loops over the keys of rows; ``row_keys`` calls them."""

import numpy as np

from granulearn.balls._compiled import compiled, mixed

# The parts of a double.
SIGN, EXPONENT = np.uint64(63), np.uint64(52)
LARGEST_EXPONENT, MANTISSA = np.uint64(0x7FF), np.uint64(2**52 - 1)
HIDDEN, LOW = 2**52, 2**32 - 1
LIMBS = 66


@compiled
def hash_rows(
    bits,  # (n, d): the numbers of each row, as they are in memory
    hashes,  # OUT (n,)
):
    """Hash the values of each row."""
    begin = mixed(np.uint64(bits.shape[1]))
    for i in range(len(bits)):
        state = begin
        for j in range(bits.shape[1]):
            state = mixed(state ^ bits[i, j])
        hashes[i] = state


@compiled
def add_hashes(
    hashes,
    codes,
    copies,  # (n,), or empty where each row comes once
    sums,  # IN and OUT (K,)
):
    """Add up the hashes of the rows of each class, modulo 2^64: in any order the same."""
    for i in range(len(hashes)):
        times = np.uint64(copies[i]) if len(copies) > 0 else np.uint64(1)
        sums[codes[i]] += times * hashes[i]


@compiled
def mix_keys(
    hashes,
    numbers,  # (n,): one for each row
    keys,  # OUT (n,)
):
    """Make one key of a hash and a number."""
    for i in range(len(hashes)):
        keys[i] = mixed(hashes[i] ^ mixed(np.uint64(numbers[i])))


@compiled
def rows_below(
    keys,
    codes,  # (n,): which limit holds for a row, or empty where there is one for all
    draw_key,
    limits,
    rows,  # OUT (n,): the rows whose draw is not above its limit
    draws,  # OUT (n,)
):
    """Draw a number for every row; return how many are not above their limit."""
    found = 0
    for i in range(len(keys)):
        draw = mixed(draw_key ^ keys[i])
        limit = limits[codes[i]] if len(codes) > 0 else limits[0]
        if draw <= limit:
            rows[found] = i
            draws[found] = draw
            found += 1
    return found


@compiled
def mark_drawn(
    keys,
    draw_key,
    cutoff,
    is_drawn,  # OUT (n,)
):
    """Mark the rows that a draw took."""
    for i in range(len(keys)):
        is_drawn[i] = mixed(draw_key ^ keys[i]) <= cutoff


@compiled
def add_exactly(
    bits,  # (n, d): doubles, as they are in memory
    copies,  # (n,), or empty where each row comes once
    sums,  # IN and OUT (d, LIMBS): limb q counts units of 2^(32 q - 1074)
):
    """Add up columns without rounding: in any order, and in any parts, the same."""
    for i in range(len(bits)):
        times = np.int64(copies[i]) if len(copies) > 0 else np.int64(1)
        for j in range(bits.shape[1]):
            word = bits[i, j]
            exponent = np.int64((word >> EXPONENT) & LARGEST_EXPONENT)
            mantissa = np.int64(word & MANTISSA)
            if exponent > 0:
                mantissa += HIDDEN
                exponent -= 1
            signed = -times if word >> SIGN else times
            limb, rest = exponent >> 5, exponent & 31
            low, high = (mantissa & LOW) << rest, (mantissa >> 32) << rest
            sums[j, limb] += signed * (low & LOW)
            sums[j, limb + 1] += signed * ((low >> 32) + (high & LOW))
            sums[j, limb + 2] += signed * (high >> 32)
