//! Hash functions over words: fast, and good enough that the lossy stores' figures hold.

/// Odd, with bits that look random; from the digits of the golden ratio.
const GOLDEN: u64 = 0x9E37_79B9_7F4A_7C15;
/// As above, from the square root of 2.
const ROOT_TWO: u64 = 0x6A09_E667_F3BC_C909;
/// As above, from the square root of 3.
const ROOT_THREE: u64 = 0xBB67_AE85_84CA_A73B;

/// A bijection of the 64-bit numbers, in which every bit of the result depends on every bit of the
/// argument: a shifted-in exclusive or, and a product with an odd number, can both be undone.
#[inline]
pub fn mix(key: u64) -> u64 {
    let x = (key ^ (key >> 32)).wrapping_mul(GOLDEN);
    (x ^ (x >> 29)).wrapping_mul(ROOT_THREE)
}

/// What was mixed.
pub fn unmix(hash: u64) -> u64 {
    let inverse = |odd: u64| (0..6).fold(odd, |x, _| x.wrapping_mul(2_u64.wrapping_sub(odd.wrapping_mul(x))));
    let y = hash.wrapping_mul(inverse(ROOT_THREE));
    let x = y ^ (y >> 29) ^ (y >> 58);
    let y = x.wrapping_mul(inverse(GOLDEN));
    y ^ (y >> 32)
}

/// Maps a number that is spread over all 64 bits to `0..size`, keeping the order.
#[inline]
pub fn scale(hash: u64, size: usize) -> usize {
    ((u128::from(hash) * size as u128) >> 64) as usize
}

/// 64 bits of the words and the seed.
#[inline]
pub fn hash_words(words: &[u32], seed: u64) -> u64 {
    let mut hash = seed ^ (words.len() as u64).wrapping_mul(GOLDEN);
    let mut quads = words.chunks_exact(4);
    for quad in &mut quads {
        let low = u64::from(quad[0]) | u64::from(quad[1]) << 32;
        let high = u64::from(quad[2]) | u64::from(quad[3]) << 32;
        hash = fold(low ^ hash ^ ROOT_TWO, high ^ hash.rotate_left(32) ^ ROOT_THREE) ^ hash.wrapping_mul(GOLDEN);
    }
    let mut rest = [0_u64; 2];
    for (i, &word) in quads.remainder().iter().enumerate() {
        rest[i / 2] |= u64::from(word) << (32 * (i % 2));
    }
    hash = fold(rest[0] ^ hash ^ ROOT_TWO, rest[1] ^ hash.rotate_left(32) ^ GOLDEN) ^ hash.wrapping_mul(GOLDEN);
    fold(hash ^ ROOT_THREE, GOLDEN) ^ mix(hash)
}

/// The two halves of the 128-bit product, joined.
#[inline]
fn fold(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    product as u64 ^ (product >> 64) as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn mixing_can_be_undone() {
        let mut key = 1_u64;
        for _ in 0..100_000 {
            key = key.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            assert_eq!(unmix(mix(key)), key);
            assert_eq!(unmix(mix(key >> 40)), key >> 40);
        }
    }

    /// Counters in a few words, as states have them: a 64-bit hash of a million of them should not
    /// collide (chance about 1 in 30 million), and each byte of it should take all values evenly.
    #[test]
    fn hashes_of_similar_states_are_spread() {
        let mut seen = HashSet::new();
        let mut counts = [[0_u32; 256]; 8];
        let mut words = vec![0_u32; 9];
        for i in 0..1_000_000_u32 {
            for (k, word) in words.iter_mut().enumerate() {
                *word = (i >> (3 * k)) & 7;
            }
            let hash = hash_words(&words, 0);
            assert!(seen.insert(hash));
            for (k, byte) in hash.to_le_bytes().into_iter().enumerate() {
                counts[k][byte as usize] += 1;
            }
        }
        let mean = 1_000_000.0 / 256.0;
        for bytes in counts {
            let chi: f64 = bytes.iter().map(|&c| (f64::from(c) - mean).powi(2) / mean).sum();
            assert!((150.0..380.0).contains(&chi), "chi-squared with 255 degrees of freedom: {chi}");
        }
    }
}
