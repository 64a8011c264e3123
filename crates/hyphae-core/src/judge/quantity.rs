//! Numbers with what they count, the bounds around them, and versions.

/// What a number counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Dimension {
    Count,
    /// In milliseconds.
    Time,
    /// In bytes.
    Bytes,
    Percent,
    Money(char),
    /// In hertz.
    Frequency,
    /// In minutes after midnight.
    Clock,
    Bits,
    Pixels,
}

/// Which side of a number is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Bound {
    Exact,
    AtMost,
    AtLeast,
    About,
}

/// A number.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Quantity {
    pub(super) low: f64,
    pub(super) high: f64,
    pub(super) dimension: Dimension,
    pub(super) bound: Bound,
    /// The parts of what may be a version: `1.0.190`, or `15` behind a name.
    pub(super) version: Option<Vec<u64>>,
    /// A version by its place or form, and by that not a count.
    pub(super) is_version: bool,
}

/// How two numbers go together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fit {
    Equal,
    /// Different, and yet both can be so: `at least 5` and `10`, `15` and `15.4`.
    Compatible,
    Clash,
    /// They count different things.
    Incomparable,
}

/// Units in lower case: dimension and how much of it one is.
fn unit(lower: &str) -> Option<(Dimension, f64)> {
    let time = |factor| Some((Dimension::Time, factor));
    let bytes = |factor| Some((Dimension::Bytes, factor));
    match lower {
        "ms" | "msec" | "millisecond" | "milliseconds" | "millis" => time(1.0),
        "µs" | "us" | "microsecond" | "microseconds" => time(0.001),
        "ns" | "nanosecond" | "nanoseconds" => time(0.000_001),
        "s" | "sec" | "secs" | "second" | "seconds" => time(1e3),
        "min" | "mins" | "minute" | "minutes" => time(60e3),
        "h" | "hr" | "hrs" | "hour" | "hours" => time(3_600e3),
        "d" | "day" | "days" => time(86_400e3),
        "week" | "weeks" => time(604_800e3),
        "month" | "months" => time(2_592_000e3),
        "year" | "years" => time(31_536_000e3),
        "byte" | "bytes" => bytes(1.0),
        "kb" | "kilobyte" | "kilobytes" => bytes(1e3),
        "kib" => bytes(1024.0),
        "mb" | "megabyte" | "megabytes" => bytes(1e6),
        "mib" => bytes(1_048_576.0),
        "gb" | "gigabyte" | "gigabytes" => bytes(1e9),
        "gib" => bytes(1_073_741_824.0),
        "tb" | "terabyte" | "terabytes" => bytes(1e12),
        "tib" => bytes(1_099_511_627_776.0),
        "%" | "percent" => Some((Dimension::Percent, 1.0)),
        "hz" => Some((Dimension::Frequency, 1.0)),
        "khz" => Some((Dimension::Frequency, 1e3)),
        "mhz" => Some((Dimension::Frequency, 1e6)),
        "ghz" => Some((Dimension::Frequency, 1e9)),
        "bit" | "bits" => Some((Dimension::Bits, 1.0)),
        "px" | "pixel" | "pixels" => Some((Dimension::Pixels, 1.0)),
        "usd" | "dollar" | "dollars" => Some((Dimension::Money('$'), 1.0)),
        "eur" | "euro" | "euros" => Some((Dimension::Money('€'), 1.0)),
        _ => None,
    }
}

/// Returns the number that a word of the language is.
pub(super) fn number_word(lower: &str) -> Option<u32> {
    const SMALL: [&str; 13] = [
        "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten",
        "eleven", "twelve",
    ];
    const MORE: [(&str, u32); 12] = [
        ("once", 1),
        ("twice", 2),
        ("thrice", 3),
        ("fifteen", 15),
        ("sixteen", 16),
        ("twenty", 20),
        ("thirty", 30),
        ("forty", 40),
        ("fifty", 50),
        ("sixty", 60),
        ("ninety", 90),
        ("hundred", 100),
    ];
    let small = SMALL.iter().position(|word| *word == lower);
    small.and_then(|n| u32::try_from(n).ok()).or_else(|| {
        MORE.iter()
            .find(|(word, _)| *word == lower)
            .map(|(_, number)| *number)
    })
}

impl Quantity {
    /// Returns a plain count.
    pub(super) fn count(number: f64) -> Self {
        Self {
            low: number,
            high: number,
            dimension: Dimension::Count,
            bound: Bound::Exact,
            version: None,
            is_version: false,
        }
    }

    /// Reads a word that begins with a digit, or with a sign that stands before one.
    pub(super) fn read(lower: &str) -> Option<Self> {
        let mut text = lower;
        let mut bound = Bound::Exact;
        let mut money = None;
        let mut marked_version = false;
        loop {
            let first = text.chars().next()?;
            match first {
                '~' => bound = Bound::About,
                '$' | '€' | '£' => money = Some(first),
                'v' if text[1..].starts_with(|c: char| c.is_ascii_digit()) => marked_version = true,
                _ if first.is_ascii_digit() => break,
                _ => return None,
            }
            text = &text[first.len_utf8()..];
        }
        if let Some(more) = text.strip_suffix('+') {
            text = more;
            bound = Bound::AtLeast;
        }
        if let Some(clock) = clock(text) {
            return Some(Self {
                dimension: Dimension::Clock,
                ..Self::count(clock)
            });
        }
        let digits = text
            .find(|c: char| !c.is_ascii_digit() && !matches!(c, '.' | ',' | '_'))
            .unwrap_or(text.len());
        let (number, rest) = text.split_at(digits);
        let number = number.trim_end_matches('.').replace([',', '_'], "");
        let parts: Option<Vec<u64>> = number.split('.').map(|part| part.parse().ok()).collect();
        let parts = parts?;
        let value = match parts.as_slice() {
            [_] | [_, _] => number.parse().ok()?,
            _ => 0.0,
        };
        let rest = rest.trim_start_matches('-');
        let dotted = parts.len() > 2 || marked_version;
        let mut quantity = Self {
            bound,
            version: Some(parts),
            is_version: dotted,
            ..Self::count(value)
        };
        if let Some(sign) = money {
            quantity.dimension = Dimension::Money(sign);
        }
        match rest {
            "" => Some(quantity),
            "k" => {
                quantity.scale(1e3);
                Some(quantity)
            }
            "x" if marked_version || quantity.version.as_ref().is_some_and(|v| v.len() > 1) => {
                Some(quantity)
            }
            _ => {
                if let Some((dimension, factor)) = unit(rest) {
                    quantity.dimension = dimension;
                    quantity.scale(factor);
                    return Some(quantity);
                }
                // `5-10`: from five to ten.
                let high: f64 = rest.trim_start_matches('.').parse().ok()?;
                (high > value && !dotted).then_some(Self {
                    high,
                    version: None,
                    ..quantity
                })
            }
        }
    }

    /// Gives the number the unit that follows it, if the word is one.
    pub(super) fn with_unit(&self, lower: &str) -> Option<Self> {
        let (dimension, factor) = unit(lower)?;
        if self.dimension != Dimension::Count || self.is_version {
            return None;
        }
        let mut with = Self {
            dimension,
            ..self.clone()
        };
        with.scale(factor);
        Some(with)
    }

    /// Returns half of it.
    pub(super) fn halved(mut self) -> Self {
        self.scale(0.5);
        self
    }

    fn scale(&mut self, factor: f64) {
        self.low *= factor;
        self.high *= factor;
        self.version = None;
    }

    /// Makes an exact number a bound.
    pub(super) fn bounded(mut self, bound: Bound) -> Self {
        if self.bound == Bound::Exact || self.bound == Bound::About {
            self.bound = bound;
        }
        self
    }

    /// Tells how two numbers go together.
    pub(super) fn fit(&self, other: &Self) -> Fit {
        if self.dimension != other.dimension {
            return Fit::Incomparable;
        }
        if let (Some(a), Some(b)) = (&self.version, &other.version)
            && (self.is_version || other.is_version || a.len() > 2 || b.len() > 2)
        {
            return self.fit_versions(a, other, b);
        }
        let same = (self.low - other.low).abs() <= 1e-9 * self.low.abs().max(1.0)
            && (self.high - other.high).abs() <= 1e-9 * self.high.abs().max(1.0);
        let about = [self.bound, other.bound].contains(&Bound::About);
        if same {
            let one_way = self.bound == other.bound || about;
            return if one_way { Fit::Equal } else { Fit::Compatible };
        }
        if about {
            let middle = f64::midpoint(self.low, other.low).abs();
            let near = (self.low - other.low).abs() <= 0.25 * middle;
            return if near { Fit::Compatible } else { Fit::Clash };
        }
        if self.bound == other.bound {
            let apart = self.low > other.high || other.low > self.high;
            // Two ranges that overlap are two ways to say where something lies.
            return if apart { Fit::Clash } else { Fit::Compatible };
        }
        fit_of(self.bound, other.bound, self.low < other.low)
    }

    fn fit_versions(&self, a: &[u64], other: &Self, b: &[u64]) -> Fit {
        let common = a.len().min(b.len());
        if a[..common] == b[..common] {
            let same = a.len() == b.len() && self.bound == other.bound;
            return if same { Fit::Equal } else { Fit::Compatible };
        }
        if self.bound == other.bound {
            return Fit::Clash;
        }
        fit_of(self.bound, other.bound, a < b)
    }
}

/// Tells how two different numbers with different bounds go together.
fn fit_of(left: Bound, right: Bound, left_is_smaller: bool) -> Fit {
    let clash = match (left, right) {
        // Nothing is both at most the smaller and at least the larger.
        (Bound::AtMost, _) | (_, Bound::AtLeast) => left_is_smaller,
        (Bound::AtLeast, _) | (_, Bound::AtMost) => !left_is_smaller,
        _ => true,
    };
    if clash { Fit::Clash } else { Fit::Compatible }
}

/// Reads `12:30`.
fn clock(text: &str) -> Option<f64> {
    let (hours, minutes) = text.split_once(':')?;
    let both = [hours, minutes].map(|part| {
        (1..=2)
            .contains(&part.len())
            .then(|| part.parse::<u32>().ok())?
    });
    match both {
        [Some(hours @ 0..=24), Some(minutes @ 0..=59)] => Some(f64::from(hours * 60 + minutes)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    #[track_caller]
    fn check(a: &str, b: &str, want: Fit) {
        let read = |text: &str| {
            let (bound, text) = match text.split_once(' ') {
                Some(("<=", rest)) => (Bound::AtMost, rest),
                Some((">=", rest)) => (Bound::AtLeast, rest),
                Some(("~", rest)) => (Bound::About, rest),
                _ => (Bound::Exact, text),
            };
            Quantity::read(text).unwrap().bounded(bound)
        };
        assert_eq!(read(a).fit(&read(b)), want, "{a} / {b}");
        assert_eq!(read(b).fit(&read(a)), want, "{b} / {a}");
    }

    #[test]
    fn numbers_are_compared_in_their_units() {
        check("60s", "1min", Fit::Equal);
        check("1,000", "1000", Fit::Equal);
        check("30s", "30min", Fit::Clash);
        check("5", "5s", Fit::Incomparable);
        check("$5", "€5", Fit::Incomparable);
        check("08:30", "09:00", Fit::Clash);
    }

    #[test]
    fn a_bound_fits_what_it_holds() {
        check("<= 5", "10", Fit::Clash);
        check("<= 10", "5", Fit::Compatible);
        check(">= 10", "<= 5", Fit::Clash);
        check(">= 5", "<= 10", Fit::Compatible);
        check("<= 5", "<= 10", Fit::Clash);
        check("3-5", "4-9", Fit::Compatible);
        check("3-5", "8", Fit::Clash);
        check("~ 30", "32", Fit::Compatible);
        check("~ 30", "90", Fit::Clash);
    }

    #[test]
    fn a_version_fits_its_own_details() {
        check("v1", "v1.2.3", Fit::Compatible);
        check("v1.2", "v1.10", Fit::Clash);
        check(">= v1.9", "v1.10", Fit::Compatible);
        check(">= v1.9", "v1.8", Fit::Clash);
    }
}
