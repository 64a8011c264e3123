//! Texts that nobody means to write but somebody stores.

use hyphae_core::ports::Embedder;
use hyphae_embed::BuiltIn;

use crate::{cosine, models, vector, vectors};

#[tokio::test]
async fn no_texts_have_no_vectors() {
    for model in models() {
        assert_eq!(model.embed(vec![]).await.unwrap(), Vec::<Vec<f32>>::new());
    }
}

#[test]
fn odd_texts_have_unit_vectors() {
    let long_word = "x".repeat(8000);
    let marks = "\u{301}".repeat(8000);
    let signs = "!?".repeat(1000);
    let odd = [
        "",
        " ",
        "\n\n",
        "\0",
        "a\0b",
        "\u{301}",
        "\u{fffd}",
        "\u{feff}",
        "\u{10ffff}",
        "🎉",
        "👩‍👩‍👧‍👦",
        "שלום עולם",
        "مرحبا بالعالم",
        "\u{202e}drawkcab\u{202c}",
        "각하",
        "𠀀𪜀",
        "ﷺ",
        &long_word,
        &marks,
        &signs,
    ];
    for model in models() {
        for text in odd {
            let vector = vector(&model, text);
            assert!(
                (cosine(&vector, &vector) - 1.0).abs() < 1e-5,
                "{:?}",
                &text[..text.len().min(20)]
            );
        }
    }
}

#[test]
fn ten_thousand_lines_have_a_unit_vector() {
    let model = BuiltIn::static_table();
    let [line, lines] =
        ["a line of a log\n", &"a line of a log\n".repeat(10_000)].map(|text| vector(&model, text));
    assert!(cosine(&line, &lines) > 0.999);
}

#[test]
fn texts_without_a_piece_are_all_the_same() {
    for model in models() {
        let empty = vector(&model, "");
        for text in [" ", "\n", "\0", "\u{301}", "\u{200b}"] {
            assert_eq!(vector(&model, text), empty, "{text:?}");
        }
    }
}

#[test]
fn nothing_of_a_long_text_is_cut_off() {
    let filler = "The minutes of the meeting list who was there and what was eaten. ".repeat(40);
    let end = "Production secrets are rotated by the security team every ninety days.";
    for model in models() {
        let [without, with, end] = &vectors(
            &model,
            &[
                filler.clone(),
                format!("{filler}{}", format!("{end} ").repeat(8)),
                end.to_owned(),
            ],
        )[..] else {
            panic!("three texts");
        };
        let (before, after) = (cosine(without, end), cosine(with, end));
        assert!(after > before + 0.1, "{before} becomes {after}");
        let same = cosine(with, without);
        assert!(same > 0.5, "{same}");
    }
}

#[test]
fn a_repeated_text_stays_what_it_is() {
    let sentence = "Deployments go out every Thursday afternoon, after the tests are green. ";
    let model = BuiltIn::minilm();
    let once = vector(&model, sentence);
    let often = vector(&model, &sentence.repeat(100));
    assert!(cosine(&once, &often) > 0.7, "{}", cosine(&once, &often));
}
