//! What two sequences have in common: a longest common subsequence.

/// Longer stretches that differ are not compared: their table would have more entries than this.
const TABLE_MAX: usize = 4_000_000;

/// The places of elements that are the same in two sequences, in their order, as many as possible: what is alike at both
/// ends first, then a longest common subsequence of the rest if that is not too long.
pub(crate) fn common<T>(one: &[T], other: &[T], same: impl Fn(&T, &T) -> bool) -> Vec<(usize, usize)> {
    let start = one.iter().zip(other).take_while(|(a, b)| same(a, b)).count();
    let most = one.len().min(other.len()) - start;
    let end = one.iter().rev().zip(other.iter().rev()).take_while(|(a, b)| same(a, b)).count().min(most);
    let (a, b) = (&one[start..one.len() - end], &other[start..other.len() - end]);
    let mut found: Vec<(usize, usize)> = (0..start).map(|at| (at, at)).collect();
    if a.len().saturating_mul(b.len()) <= TABLE_MAX {
        found.extend(longest(a, b, &same).into_iter().map(|(i, j)| (start + i, start + j)));
    }
    found.extend((0..end).rev().map(|back| (one.len() - 1 - back, other.len() - 1 - back)));
    found
}

/// A longest common subsequence, by dynamic programming from the end.
fn longest<T>(a: &[T], b: &[T], same: &impl Fn(&T, &T) -> bool) -> Vec<(usize, usize)> {
    let width = b.len() + 1;
    let mut lengths = vec![0_u32; (a.len() + 1) * width];
    for i in (0..a.len()).rev() {
        for j in (0..b.len()).rev() {
            lengths[i * width + j] = match same(&a[i], &b[j]) {
                true => lengths[(i + 1) * width + j + 1] + 1,
                false => lengths[(i + 1) * width + j].max(lengths[i * width + j + 1]),
            };
        }
    }
    let (mut i, mut j) = (0, 0);
    let mut found = Vec::new();
    while i < a.len() && j < b.len() {
        if same(&a[i], &b[j]) {
            found.push((i, j));
            (i, j) = (i + 1, j + 1);
        } else if lengths[(i + 1) * width + j] >= lengths[i * width + j + 1] {
            i += 1;
        } else {
            j += 1;
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_inserted_or_removed_shifts_nothing() {
        let pairs = |a: &str, b: &str| {
            let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
            common(&a, &b, |a, b| a == b)
        };
        assert_eq!(pairs("sxsy", "xsy"), [(1, 0), (2, 1), (3, 2)]);
        assert_eq!(pairs("abc", "axc"), [(0, 0), (2, 2)]);
        assert_eq!(pairs("paqrb", "pqsrb"), [(0, 0), (2, 1), (3, 3), (4, 4)]);
        assert_eq!(pairs("", "a"), []);
        assert_eq!(pairs("aa", "aaa"), [(0, 0), (1, 1)]);
    }
}
