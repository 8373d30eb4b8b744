//! Growth: the slope of the straight line that fits best, over the whole of what it is taken of.

use super::Sample;
use crate::bench::figures::{count, count_u64};

/// Bytes of a megabyte.
pub(super) const MEGABYTE: f64 = 1e6;

/// How much `what` grows from the first of the samples to the last; less than nothing when it shrinks.
pub(super) fn growth(samples: &[Sample], what: fn(&Sample) -> u64) -> f64 {
    let places: Vec<f64> = (0..samples.len()).map(count).collect();
    let values: Vec<f64> = samples.iter().map(|sample| count_u64(what(sample))).collect();
    let mean = |of: &[f64]| of.iter().sum::<f64>() / count(of.len().max(1));
    let (place, value) = (mean(&places), mean(&values));
    let together: f64 = places.iter().zip(&values).map(|(x, y)| (x - place) * (y - value)).sum();
    let apart: f64 = places.iter().map(|x| (x - place).powi(2)).sum();
    if apart == 0.0 { 0.0 } else { together / apart * count(samples.len() - 1) }
}
