//! How a memory ages: its salience fades while nobody uses it and is back at once when somebody
//! does. Computed when it is read; nothing is rewritten and nothing is deleted by it.

use jiff::Timestamp;

use crate::cell::Share;

/// What is left of a salience after each day without use (HyphaeDB paper, §5.4).
pub const A_DAY: f64 = 0.99;

/// Below this a cell neither begins nor carries gossip. It is still found.
pub const FLOOR: f64 = 0.1;

/// Returns the salience at a moment: `s0 · 0.99^days`, by days since the last access
/// (HyphaeDB paper, §5.4). A last access that lies ahead, as after a clock was set back, counts
/// as just now.
pub fn salience(at_rest: Share, last_access: Timestamp, now: Timestamp) -> f64 {
    at_rest.get() * libm::pow(A_DAY, days_between(last_access, now))
}

/// Tells whether a cell still takes part in gossip.
pub fn gossips(at_rest: Share, last_access: Timestamp, now: Timestamp) -> bool {
    salience(at_rest, last_access, now) >= FLOOR
}

/// Returns the last access after a use: reading, confirming and referring to a cell are uses. It
/// never goes back.
pub fn used(last_access: Timestamp, at: Timestamp) -> Timestamp {
    last_access.max(at)
}

/// Returns the days from one moment to another, with their fraction; none if it lies before.
pub(super) fn days_between(from: Timestamp, to: Timestamp) -> f64 {
    const MICROSECONDS_A_DAY: f64 = 86_400_000_000.0;
    let passed = to.as_microsecond().saturating_sub(from.as_microsecond());
    passed.max(0) as f64 / MICROSECONDS_A_DAY
}

#[cfg(test)]
mod tests {
    use jiff::SignedDuration;

    use super::*;

    const START: Timestamp = Timestamp::UNIX_EPOCH;

    fn after(days: f64) -> Timestamp {
        START + SignedDuration::from_secs_f64(days * 86_400.0)
    }

    #[track_caller]
    fn check(at_rest: f64, days: f64, want: &str) {
        let found = salience(Share::new(at_rest).unwrap(), START, after(days));
        assert_eq!(format!("{found:.3}"), want);
    }

    #[test]
    fn salience_fades_as_the_paper_says() {
        check(1.0, 0.0, "1.000");
        check(1.0, 30.0, "0.740");
        check(1.0, 68.97, "0.500");
        check(0.5, 160.1, "0.100");
        check(1.0, 1.5, "0.985");
        check(0.0, 30.0, "0.000");
        check(1.0, 100_000.0, "0.000");
    }

    #[test]
    fn a_clock_that_was_set_back_ages_nothing() {
        let full = salience(Share::FULL, after(10.0), START);
        assert_eq!(full.to_bits(), 1.0_f64.to_bits());
        assert_eq!(used(after(10.0), START), after(10.0));
    }

    #[test]
    fn a_cell_that_nobody_uses_falls_silent_and_use_restores_it_wholly() {
        assert!(gossips(Share::HALF, START, after(160.0)));
        assert!(!gossips(Share::HALF, START, after(160.2)));
        let used = used(START, after(200.0));
        assert_eq!(salience(Share::HALF, used, after(200.0)), 0.5);
        assert!(gossips(Share::HALF, used, after(201.0)));
    }

    proptest::proptest! {
        #[test]
        fn salience_never_rises_by_waiting(at_rest in 0.0..=1.0_f64, days in 0.0..3000.0_f64, more in 0.0..500.0_f64) {
            let at_rest = Share::new(at_rest).unwrap();
            let early = salience(at_rest, START, after(days));
            let late = salience(at_rest, START, after(days + more));
            proptest::prop_assert!(0.0 <= late && late <= early && early <= at_rest.get());
        }
    }
}
