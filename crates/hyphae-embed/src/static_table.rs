//! The static table: a vector for each word piece, added up.

use std::sync::OnceLock;

use crate::built_in::Stop;
use crate::pool::settle;
use crate::tokenizer::{self, Tokenizer};
use crate::weights::VOCABULARY;

/// How many numbers a vector has.
pub(crate) const DIMENSION: usize = 256;

/// Bytes of the file before the scales.
const HEADER: usize = 64;

/// The table file as it is in the program; `scripts/embed/distill_static.py` writes it.
static FILE: &[u8] = include_bytes!("../data/static-256-int8.bin");

static SHARED: OnceLock<Result<StaticTable<'static>, String>> = OnceLock::new();

/// Returns the table, loading it at the first call (about a millisecond).
pub(crate) fn shared() -> Result<&'static StaticTable<'static>, String> {
    SHARED
        .get_or_init(|| StaticTable::load(FILE))
        .as_ref()
        .map_err(Clone::clone)
}

/// Whether [`shared`] returns at once.
pub(crate) fn is_loaded() -> bool {
    SHARED.get().is_some()
}

/// The table in place.
#[derive(Debug)]
pub(crate) struct StaticTable<'a> {
    /// What one unit of a row is worth.
    scales: &'a [[u8; 4]],
    rows: &'a [[u8; DIMENSION]],
    tokenizer: &'static Tokenizer,
}

impl<'a> StaticTable<'a> {
    /// Finds the parts of a table file, or says why it is not one.
    ///
    /// The file: 8 bytes `HYPHSTA1`; u32 rows, columns, bytes in the file, CRC-32 of everything
    /// after the header of 64 bytes; f32 scales; i8 rows. Little-endian.
    pub(crate) fn load(file: &'a [u8]) -> Result<Self, String> {
        let Some((header, body)) = file.split_first_chunk::<HEADER>() else {
            return Err(format!("{} bytes are not a table", file.len()));
        };
        let Some(header) = header.strip_prefix(b"HYPHSTA1") else {
            return Err("not a table, or another version of one".to_owned());
        };
        let shape = [VOCABULARY, DIMENSION, file.len()];
        let found = header
            .as_chunks::<4>()
            .0
            .iter()
            .map(|n| u32::from_le_bytes(*n) as usize);
        let bytes = VOCABULARY * (4 + DIMENSION);
        if !shape.into_iter().eq(found.take(shape.len())) || body.len() != bytes {
            return Err("of another shape or length".to_owned());
        }
        let (scales, rows) = body.split_at(4 * VOCABULARY);
        let scales = scales.as_chunks().0;
        if scales
            .iter()
            .any(|scale| !f32::from_le_bytes(*scale).is_finite())
        {
            return Err("has scales that are not numbers".to_owned());
        }
        Ok(Self {
            scales,
            rows: rows.as_chunks().0,
            tokenizer: tokenizer::shared()?,
        })
    }

    /// Returns a vector for each text, or nothing when told to stop.
    pub(crate) fn embed(&self, texts: &[String], stop: &Stop) -> Option<Vec<Vec<f32>>> {
        let vector = |text: &String| (!stop.is_set()).then(|| self.vector(text));
        texts.iter().map(vector).collect()
    }

    /// A sum has no window: a text of any length is one.
    fn vector(&self, text: &str) -> Vec<f32> {
        let mut sum = vec![0.0; DIMENSION];
        for id in self.tokenizer.pieces(text).ids {
            let id = usize::from(id);
            let scale = f32::from_le_bytes(self.scales[id]);
            for (sum, value) in sum.iter_mut().zip(&self.rows[id]) {
                *sum += f32::from(*value as i8) * scale;
            }
        }
        settle(&mut sum);
        sum
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_is_the_one_that_the_script_wrote() {
        let stated = u32::from_le_bytes(FILE[20..24].try_into().unwrap());
        assert_eq!(crate::weights::crc_32(&FILE[HEADER..]), stated);
    }

    #[track_caller]
    fn check_refused(damage: impl FnOnce(&mut Vec<u8>), want: &str) {
        let mut file = FILE.to_vec();
        damage(&mut file);
        let reason = StaticTable::load(&file).unwrap_err();
        assert!(reason.contains(want), "{reason}");
    }

    #[test]
    fn damaged_files_are_refused_with_the_reason() {
        check_refused(Vec::clear, "0 bytes");
        check_refused(|file| file[0] = b'x', "not a table");
        check_refused(|file| file[12] = 1, "another shape");
        check_refused(|file| file.truncate(5_000_000), "another shape or length");
        check_refused(
            |file| {
                file.truncate(5_000_000);
                file[16..20].copy_from_slice(&5_000_000_u32.to_le_bytes());
            },
            "another shape or length",
        );
        check_refused(
            |file| file[HEADER..HEADER + 4].copy_from_slice(&f32::INFINITY.to_le_bytes()),
            "not numbers",
        );
    }
}
