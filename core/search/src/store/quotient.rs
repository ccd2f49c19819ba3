//! Numbers of few bits by where they are held and what is left of them then.
//!
//! A number of k bits is mixed by a bijection of the numbers of that length, so that what a table must hold is the mixed
//! number, and the line where it is held says a part of it already (Cleary, *Compact Hash Tables Using Bidirectional
//! Linear Probing*, 1984). A table has so many lines that the rest fits into a slot of 32 bits.

/// Slots of a line, which is a cache line.
pub const LINE: usize = 16;
/// Numbers have at least this many bits, to be mixed well.
const BITS_MIN: u32 = 16;
/// This many bits of a mixed number fit into a slot, with 0 left over to mark a free one.
const REST_BITS_MAX: u32 = 31;
/// Odd, with bits that look random.
const FIRST: u64 = 0x9E37_79B9_7F4A_7C15;
/// As above.
const SECOND: u64 = 0xBB67_AE85_84CA_A73B;

/// A bijection of the numbers of this many bits, whose result has two parts: the top bits choose one of 2 to the power of
/// `segment_bits` segments of a table.
#[derive(Clone, Copy, Debug)]
pub struct Mixer {
    bits: u32,
    half: u32,
    segment_bits: u32,
    /// The bits of a number.
    mask: u64,
    /// The bits of a mixed number without those that choose the segment.
    rest_mask: u64,
}

impl Mixer {
    /// Of numbers below 2 to the power of `bits`.
    pub fn new(bits: u32, segment_bits: u32) -> Self {
        let bits = bits.max(BITS_MIN);
        let mask = u64::MAX >> (64 - bits);
        Self { bits, half: bits.div_ceil(2), segment_bits, mask, rest_mask: mask >> segment_bits }
    }

    /// Bits of a mixed number without those that choose the segment.
    #[inline]
    pub fn rest_bits(self) -> u32 {
        self.bits - self.segment_bits
    }

    /// Segment, and the mixed number without the bits that chose it.
    #[inline]
    pub fn place(self, key: u64) -> (usize, u64) {
        let mixed = self.mix(key);
        ((mixed >> self.rest_bits()) as usize, mixed & self.rest_mask)
    }

    /// The number with this place.
    #[inline]
    pub fn number(self, segment: usize, hash: u64) -> u64 {
        self.unmix((segment as u64) << self.rest_bits() | hash)
    }

    #[inline]
    fn mix(self, x: u64) -> u64 {
        let mask = self.mask;
        let x = (x ^ (x >> self.half)).wrapping_mul(FIRST) & mask;
        let x = (x ^ (x >> self.half)).wrapping_mul(SECOND) & mask;
        x ^ (x >> self.half)
    }

    fn unmix(self, mixed: u64) -> u64 {
        let mask = self.mask;
        let x = mixed ^ (mixed >> self.half);
        let x = x.wrapping_mul(inverse(SECOND)) & mask;
        let x = x ^ (x >> self.half);
        let x = x.wrapping_mul(inverse(FIRST)) & mask;
        x ^ (x >> self.half)
    }
}

/// With this many lines in each of 2 to the power of `segment_bits` segments, the rest of a number fits, as a power of two.
pub fn lines_min_log(bits: u32, segment_bits: u32) -> u32 {
    bits.max(BITS_MIN).saturating_sub(REST_BITS_MAX + segment_bits)
}

/// How many numbers of this many bits there must be for a table to be no larger than for shorter numbers.
pub fn len_min(bits: u32, segment_bits: u32) -> u64 {
    match bits.saturating_sub(REST_BITS_MAX + segment_bits) {
        0 => 0,
        log => (LINE as u64 / 2) << (log + segment_bits),
    }
}

/// This many bits may a number have for a table of `len` to be no larger than for shorter ones.
pub fn bits_max(len: u64, segment_bits: u32) -> u32 {
    (0..=64).rev().find(|&bits| len_min(bits, segment_bits) <= len).unwrap_or(0)
}

/// The lines of a segment.
#[derive(Clone, Copy, Debug, Default)]
pub struct Lines {
    /// How many there are; at least one.
    count: u64,
    /// Bits of a mixed number without those that chose the segment.
    bits: u32,
    /// These bits.
    mask: u64,
    /// Binary logarithm of the number of lines, rounded down.
    log: u32,
    /// 2⁶⁴ by the number of lines, rounded up; 0 for one line.
    per_line: u64,
}

impl Lines {
    /// This many lines, for mixed numbers of which this many bits are left.
    pub fn new(count: usize, bits: u32) -> Self {
        assert!((1..64).contains(&bits), "some bits of a mixed number choose the segment");
        let count = count as u64;
        Self {
            count,
            bits,
            mask: u64::MAX >> (64 - bits),
            log: count.ilog2(),
            per_line: (u64::MAX / count).wrapping_add(1),
        }
    }

    /// The line where a number belongs, and what is left of the number once the line is known. Numbers
    /// with the same line lie `count` apart in the lower part of the product, so that its last
    /// `log` bits say nothing new.
    #[inline]
    pub fn home(&self, hash: u64) -> (usize, u64) {
        let product = u128::from(hash) * u128::from(self.count);
        let (upper, lower) = ((product >> 64) as u64, product as u64);
        // There are from 1 to 63 bits, so this is the product without them, which a shift of 128 bits would take longer for.
        let line = upper << ((64 - self.bits) & 63) | lower >> (self.bits & 63);
        (line as usize, (lower & self.mask) >> (self.log & 63))
    }

    /// What a slot holds for a number of which this is left; `None` if it does not fit.
    #[inline]
    pub fn entry(rest: u64) -> Option<u32> {
        (rest >> REST_BITS_MAX == 0).then_some(rest as u32 + 1)
    }

    /// The number that belongs into `line`, where a slot holds `entry`: the least one whose product is not below what is
    /// known of it.
    #[inline]
    pub fn back(&self, line: usize, entry: u32) -> u64 {
        let rest = u64::from(entry - 1);
        if self.bits + self.log < 63 {
            return self.divide((line as u64) << self.bits | rest << self.log);
        }
        let product = (line as u128) << self.bits | u128::from(rest) << self.log;
        product.div_ceil(u128::from(self.count)) as u64
    }

    /// A product below 2⁶³ by the number of lines, rounded up. With n what is divided, rounded down, d the number of lines and
    /// m = ⌈2⁶⁴/d⌉, n·m/2⁶⁴ is n/d and less than n/2⁶⁴ < 1 more: the quotient is right, or one too great, which the product
    /// with d shows.
    #[inline]
    fn divide(&self, product: u64) -> u64 {
        let least = product + (self.count - 1);
        if self.per_line == 0 {
            return least;
        }
        let quotient = ((u128::from(least) * u128::from(self.per_line)) >> 64) as u64;
        quotient - u64::from(least < quotient * self.count)
    }
}

/// The number whose product with `odd` is 1, modulo any power of two up to 2⁶⁴.
fn inverse(odd: u64) -> u64 {
    (0..6).fold(odd, |x, _| x.wrapping_mul(2_u64.wrapping_sub(odd.wrapping_mul(x))))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn random(seed: &mut u64) -> u64 {
        *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        *seed >> 20
    }

    #[test]
    fn mixing_can_be_undone() {
        for bits in BITS_MIN..=64 {
            for segment_bits in [2, 6] {
                let mixer = Mixer::new(bits, segment_bits);
                for key in [0, 1, 2, 12_345, 1 << (bits - 1), mixer.mask, mixer.mask / 3] {
                    assert!(mixer.mix(key) <= mixer.mask);
                    assert_eq!(mixer.unmix(mixer.mix(key)), key, "{bits}");
                    let (segment, hash) = mixer.place(key);
                    assert_eq!(mixer.number(segment, hash), key, "{bits}");
                }
            }
        }
    }

    #[test]
    fn a_place_and_what_is_left_say_the_number() {
        let mut seed = 7;
        for count in [1, 2, 3, 7, 64, 1000, 12_345] {
            let lines = Lines::new(count, 36);
            for _ in 0..1000 {
                let hash = random(&mut seed) & (u64::MAX >> 28);
                let (line, rest) = lines.home(hash);
                if let Some(entry) = Lines::entry(rest) {
                    assert_eq!(lines.back(line, entry), hash, "{count}");
                }
            }
        }
    }

    #[test]
    fn a_product_is_divided_by_the_number_of_lines() {
        let mut seed = 3;
        let few = (1..300).chain([1 << 16, (1 << 16) + 1, 999_983, (1 << 22) - 1]);
        for count in few {
            let lines = Lines::new(count, 36);
            let near = (0..70).map(|i| (random(&mut seed) >> (i % 40)).wrapping_mul(count as u64).wrapping_add(i % 3));
            for product in near.chain([0, 1, (1 << 63) - 1, (1 << 63) - 2]) {
                let product = product & (u64::MAX >> 1);
                assert_eq!(lines.divide(product), product.div_ceil(count as u64), "{product} by {count}");
            }
        }
    }
}
