//! What the next value of a parameter will cost, told from those that were measured: the number of states is taken to grow by
//! the same factor once more. How far that was off for the values already measured is part of the answer.

/// Fewer measured values tell nothing.
pub const POINTS_MIN: usize = 3;

/// What is expected of the next value.
#[derive(Clone, PartialEq, Debug)]
pub struct Extrapolation {
    /// The number expected.
    pub next: f64,
    /// What the same rule expected of each measured value from the third on, divided by what was measured: 1 is exact, less is
    /// too low.
    pub past: Vec<f64>,
}

/// The number that follows on numbers measured for consecutive values of a parameter; `None` if there are fewer than
/// [`POINTS_MIN`] or one of them is not positive.
pub fn extrapolate(measured: &[u64]) -> Option<Extrapolation> {
    if measured.len() < POINTS_MIN || measured.contains(&0) {
        return None;
    }
    let expected = |pair: &[u64]| pair[1] as f64 * (pair[1] as f64 / pair[0] as f64);
    let past = measured.windows(3).map(|three| expected(&three[..2]) / three[2] as f64).collect();
    Some(Extrapolation { next: expected(&measured[measured.len() - 2..]), past })
}

impl Extrapolation {
    /// How good the rule was so far, as a sentence without its full stop.
    pub fn past_error(&self) -> String {
        let percent = |ratio: f64| ((ratio - 1.0) * 100.0).round() as i64;
        let word = |percent: i64| match percent {
            0 => "exact".to_owned(),
            low if low < 0 => format!("{} % too low", -low),
            high => format!("{high} % too high"),
        };
        let all: Vec<i64> = self.past.iter().copied().map(percent).collect();
        let (low, high) = (all.iter().min().copied().unwrap_or(0), all.iter().max().copied().unwrap_or(0));
        match all.len() {
            1 => format!("the one earlier prediction was {}", word(low)),
            count if low == high => format!("the {count} earlier predictions were {}", word(low)),
            count => format!("the {count} earlier predictions were from {} to {}", word(low), word(high)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_grows_by_a_factor_is_foretold_exactly() {
        for (start, factor) in [(1, 2), (7, 3), (5, 1), (11, 10)] {
            let measured: Vec<u64> = (0..6).map(|power| start * u64::pow(factor, power)).collect();
            for known in 3..6 {
                let told = extrapolate(&measured[..known]).expect("there are enough");
                assert!((told.next - measured[known] as f64).abs() < 1e-6 * told.next);
                assert!(told.past.iter().all(|ratio| (ratio - 1.0).abs() < 1e-9));
                assert_eq!(told.past.len(), known - 2);
                assert!(told.past_error().ends_with("exact"));
            }
        }
    }

    #[test]
    fn past_errors_are_those_that_one_would_have_made() {
        let measured = [10, 30, 60, 240];
        let told = extrapolate(&measured).expect("there are enough");
        let made: Vec<f64> = (2..4)
            .map(|at| measured[at - 1] as f64 * measured[at - 1] as f64 / measured[at - 2] as f64 / measured[at] as f64)
            .collect();
        assert_eq!(told.past, made);
        assert_eq!(told.past_error(), "the 2 earlier predictions were from 50 % too low to 50 % too high");
        assert_eq!(told.next, 960.0);
    }

    #[test]
    fn too_little_is_known_of_two_values() {
        assert_eq!(extrapolate(&[1, 2]), None);
        assert_eq!(extrapolate(&[0, 1, 2]), None);
        assert!(extrapolate(&[1, 2, 3]).is_some());
    }
}
