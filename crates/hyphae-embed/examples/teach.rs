//! Writes the sentence model's vectors for each line of a file, as 32-bit floats.
//!
//!     cargo run --release -p hyphae-embed --example teach -- corpus.txt vectors.f32
//!
//! The static table is fitted to them; see `scripts/embed/distill_static.py`.

use std::error::Error;
use std::fs::{self, File};
use std::io::{BufWriter, Write};

use hyphae_embed::BuiltIn;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args_os().skip(1);
    let (Some(corpus), Some(target)) = (arguments.next(), arguments.next()) else {
        return Err("give a file of sentences and one to write".into());
    };
    let lines: Vec<String> = fs::read_to_string(corpus)?
        .lines()
        .map(str::to_owned)
        .collect();
    let mut out = BufWriter::new(File::create(target)?);
    let model = BuiltIn::minilm();
    for lines in lines.chunks(256) {
        for number in model.embed_blocking(lines)?.into_iter().flatten() {
            out.write_all(&number.to_le_bytes())?;
        }
    }
    Ok(out.flush()?)
}
