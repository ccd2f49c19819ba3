//! Words compared several at a time.
//!
//! What is compared gives one bit for each word, the first word the lowest one. On x86-64 the processor compares four words with one
//! instruction and gathers the answers with another, which no loop is compiled to; elsewhere a loop does the same.

/// Words compared at a time by [`differing`].
pub(crate) const CHUNK: usize = 8;

/// Which of the words are `value`.
#[inline(always)]
pub(crate) fn equal_to(words: &[u32; 16], value: u32) -> u32 {
    imp::equal_to(words, value)
}

/// In which words two states differ.
#[inline(always)]
pub(crate) fn differing(a: &[u32; CHUNK], b: &[u32; CHUNK]) -> u32 {
    imp::differing(a, b)
}

#[cfg(target_arch = "x86_64")]
mod imp {
    use super::CHUNK;
    use std::arch::x86_64::{
        __m128i, _mm_cmpeq_epi32, _mm_loadu_si128, _mm_movemask_epi8, _mm_packs_epi16, _mm_packs_epi32, _mm_set1_epi32,
        _mm_setzero_si128,
    };

    #[inline(always)]
    pub(super) fn equal_to(words: &[u32; 16], value: u32) -> u32 {
        // SAFETY: every x86-64 processor has SSE2; the four loads are of the sixteen words.
        unsafe {
            let start = words.as_ptr().cast::<__m128i>();
            let value = _mm_set1_epi32(value.cast_signed());
            let quarter = |at: usize| _mm_cmpeq_epi32(_mm_loadu_si128(start.add(at)), value);
            let (low, high) = (_mm_packs_epi32(quarter(0), quarter(1)), _mm_packs_epi32(quarter(2), quarter(3)));
            _mm_movemask_epi8(_mm_packs_epi16(low, high)).cast_unsigned()
        }
    }

    #[inline(always)]
    pub(super) fn differing(a: &[u32; CHUNK], b: &[u32; CHUNK]) -> u32 {
        // SAFETY: every x86-64 processor has SSE2; the two loads of each are of its eight words.
        unsafe {
            let (a, b) = (a.as_ptr().cast::<__m128i>(), b.as_ptr().cast::<__m128i>());
            let half = |at: usize| _mm_cmpeq_epi32(_mm_loadu_si128(a.add(at)), _mm_loadu_si128(b.add(at)));
            let same = _mm_packs_epi16(_mm_packs_epi32(half(0), half(1)), _mm_setzero_si128());
            !_mm_movemask_epi8(same).cast_unsigned() & 0xFF
        }
    }
}

#[cfg(not(target_arch = "x86_64"))]
use portable as imp;

#[cfg(any(test, not(target_arch = "x86_64")))]
mod portable {
    use super::CHUNK;

    #[inline(always)]
    pub(super) fn equal_to(words: &[u32; 16], value: u32) -> u32 {
        words.iter().enumerate().fold(0, |equal, (i, &word)| equal | u32::from(word == value) << i)
    }

    #[inline(always)]
    pub(super) fn differing(a: &[u32; CHUNK], b: &[u32; CHUNK]) -> u32 {
        a.iter().zip(b).enumerate().fold(0, |differing, (i, (a, b))| differing | u32::from(a != b) << i)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_word_has_its_bit() {
        for value in [0, 1, u32::MAX, 1 << 31, 0x7FFF_FFFF, 0x8000, 0x10_000] {
            for set in (0..=u16::MAX).step_by(7) {
                let other = |i: usize| value ^ 1 << (i * 2);
                let words: [u32; 16] = std::array::from_fn(|i| if set >> i & 1 != 0 { value } else { other(i) });
                assert_eq!(equal_to(&words, value), u32::from(set));
                assert_eq!(portable::equal_to(&words, value), u32::from(set));
            }
            for set in 0..=u8::MAX {
                let a: [u32; CHUNK] = std::array::from_fn(|i| value.wrapping_add(i as u32 * 0x1_0001));
                let b: [u32; CHUNK] = std::array::from_fn(|i| a[i] ^ u32::from(set >> i & 1) << (i * 4 + 3));
                assert_eq!(differing(&a, &b), u32::from(set));
                assert_eq!(portable::differing(&a, &b), u32::from(set));
            }
        }
    }
}
