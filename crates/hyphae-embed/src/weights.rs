//! The sentence model's weight file, read in place.
//!
//! `scripts/embed/export_minilm.py` writes the file and describes its layout. The matrices, which
//! are nearly all of it, stay where they are; only biases and norms (100 KB) are copied out, to be
//! aligned.

use crate::kernel::{GROUP, Matrix, ROWS};

/// How many numbers describe a token between layers, and a text in the end.
pub(crate) const HIDDEN: usize = 384;

/// How many numbers a token has in the middle of a layer.
pub(crate) const FEED_FORWARD: usize = 1536;

/// How many heads attention has.
pub(crate) const HEADS: usize = 12;

/// How many word pieces the model takes at once, the two special ones included.
pub(crate) const WINDOW: usize = 256;

/// How many word pieces there are.
pub(crate) const VOCABULARY: usize = 30_522;

const LAYERS: usize = 6;

/// Sections of the file start at multiples of this many bytes; so does the first one.
const ALIGNMENT: usize = 64;

/// How many scales an embedding has.
const GROUPS: usize = HIDDEN / GROUP;

/// The model.
#[derive(Debug)]
pub(crate) struct Weights<'a> {
    scales: &'a [[[u8; 4]; GROUPS]],
    words: &'a [[u8; HIDDEN]],
    positions: &'a [[[u8; 4]; HIDDEN]],
    pub(crate) norm: Norm,
    pub(crate) layers: Vec<Layer<'a>>,
}

/// One of the encoder's layers.
#[derive(Debug)]
pub(crate) struct Layer<'a> {
    /// Gives the query, the key and the value of a token, [`HIDDEN`] numbers each. The query is
    /// already divided by the square root of a head's width.
    pub(crate) attention: Matrix<'a>,
    pub(crate) attention_out: Matrix<'a>,
    pub(crate) attention_norm: Norm,
    pub(crate) up: Matrix<'a>,
    pub(crate) down: Matrix<'a>,
    pub(crate) norm: Norm,
}

/// What a layer norm learned, [`HIDDEN`] numbers each.
#[derive(Debug)]
pub(crate) struct Norm {
    pub(crate) gain: Vec<f32>,
    pub(crate) offset: Vec<f32>,
}

impl<'a> Weights<'a> {
    /// Finds the parts of a weight file, or says why it is not one.
    ///
    /// The matrices themselves are not looked at: that would read 23 MB at every start.
    pub(crate) fn parse(file: &'a [u8]) -> Result<Self, String> {
        check_header(file)?;
        let mut sections = Sections {
            rest: &file[ALIGNMENT..],
        };
        let scales = sections.take("word scales", VOCABULARY)?;
        let words = sections.take("words", VOCABULARY)?;
        let positions = sections.take("positions", WINDOW)?;
        let norm = sections.norm()?;
        let mut layers = Vec::with_capacity(LAYERS);
        for _ in 0..LAYERS {
            layers.push(Layer {
                attention: sections.matrix(3 * HIDDEN, HIDDEN)?,
                attention_out: sections.matrix(HIDDEN, HIDDEN)?,
                attention_norm: sections.norm()?,
                up: sections.matrix(FEED_FORWARD, HIDDEN)?,
                down: sections.matrix(HIDDEN, FEED_FORWARD)?,
                norm: sections.norm()?,
            });
        }
        if !sections.rest.is_empty() {
            return Err(format!("{} bytes too many", sections.rest.len()));
        }
        Ok(Self {
            scales,
            words,
            positions,
            norm,
            layers,
        })
    }

    /// Writes what the model starts from for a word piece at a position of its window.
    #[inline(always)]
    pub(crate) fn embed(&self, piece: u16, position: usize, out: &mut [f32]) {
        let piece = usize::from(piece);
        let words = self.words[piece].as_chunks::<GROUP>().0;
        let positions = self.positions[position].as_chunks::<GROUP>().0;
        let groups = words.iter().zip(self.scales[piece]).zip(positions);
        for (out, ((words, scale), positions)) in out.chunks_exact_mut(GROUP).zip(groups) {
            let scale = f32::from_le_bytes(scale);
            for ((out, word), position) in out.iter_mut().zip(words).zip(positions) {
                *out = f32::from(*word as i8) * scale + f32::from_le_bytes(*position);
            }
        }
    }
}

fn check_header(file: &[u8]) -> Result<(), String> {
    let Some((header, _)) = file.split_first_chunk::<ALIGNMENT>() else {
        return Err(format!("{} bytes are not a weight file", file.len()));
    };
    let Some(header) = header.strip_prefix(b"HYPHMLM1") else {
        return Err("not a weight file, or another version of one".to_owned());
    };
    let found = header
        .as_chunks::<4>()
        .0
        .iter()
        .map(|bytes| u32::from_le_bytes(*bytes) as usize);
    let shape = [
        VOCABULARY,
        HIDDEN,
        FEED_FORWARD,
        LAYERS,
        HEADS,
        WINDOW,
        GROUP,
        ROWS,
        file.len(),
    ];
    if !shape.into_iter().eq(found.take(shape.len())) {
        return Err("of another shape or length".to_owned());
    }
    Ok(())
}

/// What of the file has not been read yet.
struct Sections<'a> {
    rest: &'a [u8],
}

impl<'a> Sections<'a> {
    /// Takes `count` items and the zeros after them.
    fn take<T: Item>(&mut self, what: &str, count: usize) -> Result<&'a [T], String> {
        let bytes = count * size_of::<T>();
        let padded = bytes.next_multiple_of(ALIGNMENT);
        let Some((section, rest)) = self.rest.split_at_checked(padded) else {
            return Err(format!("ends inside its {what}"));
        };
        self.rest = rest;
        Ok(T::items(&section[..bytes]))
    }

    fn numbers(&mut self, what: &str, count: usize) -> Result<Vec<f32>, String> {
        let bytes: &[[u8; 4]] = self.take(what, count)?;
        let numbers: Vec<_> = bytes
            .iter()
            .map(|number| f32::from_le_bytes(*number))
            .collect();
        if numbers.iter().any(|number| !number.is_finite()) {
            return Err(format!("has {what} that are not numbers"));
        }
        Ok(numbers)
    }

    fn norm(&mut self) -> Result<Norm, String> {
        Ok(Norm {
            gain: self.numbers("norms", HIDDEN)?,
            offset: self.numbers("norms", HIDDEN)?,
        })
    }

    fn matrix(&mut self, rows: usize, columns: usize) -> Result<Matrix<'a>, String> {
        let blocks = self.take("matrices", rows / ROWS * (columns / GROUP))?;
        let bias = self.numbers("biases", rows)?;
        Matrix::new(columns, blocks, bias).ok_or_else(|| "has a matrix of odd shape".to_owned())
    }
}

/// Something made of bytes, of which a slice of bytes can be cut into many.
trait Item: Sized + 'static {
    /// Cuts `bytes`, whose length is a multiple of an item's.
    fn items(bytes: &[u8]) -> &[Self];
}

impl<const N: usize> Item for [u8; N] {
    fn items(bytes: &[u8]) -> &[Self] {
        bytes.as_chunks().0
    }
}

impl<const N: usize> Item for [[u8; 4]; N] {
    fn items(bytes: &[u8]) -> &[Self] {
        bytes.as_chunks::<4>().0.as_chunks().0
    }
}

/// The checksum of zip, gzip and PNG.
#[cfg(test)]
pub(crate) fn crc_32(bytes: &[u8]) -> u32 {
    let table: [u32; 256] = std::array::from_fn(|byte| {
        (0..8).fold(byte as u32, |crc, _| {
            (crc >> 1) ^ (0xedb8_8320 & (crc & 1).wrapping_neg())
        })
    });
    !bytes.iter().fold(!0, |crc, byte| {
        (crc >> 8) ^ table[usize::from((crc as u8) ^ byte)]
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::minilm::WEIGHTS;

    #[test]
    fn the_file_is_the_one_that_the_script_wrote() {
        let (header, body) = WEIGHTS.split_at(ALIGNMENT);
        let stated = u32::from_le_bytes(header[44..48].try_into().unwrap());
        assert_eq!(crc_32(body), stated);
    }

    #[track_caller]
    fn check_refused(damage: impl FnOnce(&mut Vec<u8>), want: &str) {
        let mut file = WEIGHTS.to_vec();
        damage(&mut file);
        let reason = Weights::parse(&file).unwrap_err();
        assert!(reason.contains(want), "{reason}");
    }

    #[test]
    fn damaged_files_are_refused_with_the_reason() {
        check_refused(Vec::clear, "0 bytes");
        check_refused(|file| file[0] = b'x', "not a weight file");
        check_refused(|file| file[7] = b'2', "another version");
        check_refused(|file| file[8] = 0, "another shape");
        check_refused(|file| file.truncate(20_000_000), "another shape or length");
        check_refused(|file| file.push(0), "another shape or length");
        check_refused(
            |file| {
                file.truncate(20_000_000);
                file[40..44].copy_from_slice(&20_000_000_u32.to_le_bytes());
            },
            "ends inside",
        );
        let last_number = WEIGHTS.len() - 4;
        check_refused(
            |file| file[last_number..].copy_from_slice(&f32::NAN.to_le_bytes()),
            "not numbers",
        );
        assert!(Weights::parse(WEIGHTS).is_ok());
    }
}
