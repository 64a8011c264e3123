//! Times, their middle and their spread.

use std::time::Instant;

use rustix::time::{ClockId, clock_gettime};

/// Milliseconds of computing and of waiting that something took.
#[derive(Debug, Default)]
pub(crate) struct Times {
    pub(crate) cpu: Vec<f64>,
    pub(crate) wall: Vec<f64>,
}

impl Times {
    /// Takes the time of one more call. What all threads of this process compute counts.
    pub(crate) async fn take<T>(&mut self, work: impl Future<Output = T>) -> T {
        let (cpu, wall) = (cpu_ms(), Instant::now());
        let done = work.await;
        self.cpu.push(cpu_ms() - cpu);
        self.wall.push(wall.elapsed().as_secs_f64() * 1e3);
        done
    }
}

/// Milliseconds that this process has computed so far.
pub(crate) fn cpu_ms() -> f64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    time.tv_sec as f64 * 1e3 + time.tv_nsec as f64 / 1e6
}

/// Returns the value below which `share` of all lie.
pub(crate) fn quantile(values: &[f64], share: f64) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let at = (sorted.len().saturating_sub(1)) as f64 * share;
    sorted.get(at.round() as usize).copied().unwrap_or(f64::NAN)
}

pub(crate) fn median(values: &[f64]) -> f64 {
    quantile(values, 0.5)
}

/// Says the middle, the quarter on each side of it, and the slow end.
pub(crate) fn spread(values: &[f64]) -> String {
    format!(
        "p50 {:8.3} ms (p25 {:.3}, p75 {:.3}, p95 {:.3}, n={})",
        median(values),
        quantile(values, 0.25),
        quantile(values, 0.75),
        quantile(values, 0.95),
        values.len()
    )
}
