//! Probabilities too small for a double, by their log2.

/// log2 of the sum of probabilities that are given by their log2, at most 0: a bound on the probability that any of the events happens.
pub fn log2_sum(logs: &[f64]) -> f64 {
    let largest = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if largest == f64::NEG_INFINITY {
        return largest;
    }
    let sum: f64 = logs.iter().map(|log| libm::exp2(log - largest)).sum();
    (largest + libm::log2(sum)).min(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn probabilities_add_up_also_where_none_is_a_double() {
        assert!((log2_sum(&[-3.0, -3.0]) + 2.0).abs() < 1e-12);
        assert!((log2_sum(&[-2000.0; 4]) + 1998.0).abs() < 1e-9);
        assert_eq!((log2_sum(&[0.0, 0.0]), log2_sum(&[])), (0.0, f64::NEG_INFINITY));
    }
}
