//! The same text has the same bits, whatever it is computed with or beside.

use std::sync::Arc;

use hyphae_core::ports::Embedder;
use hyphae_embed::{BuiltIn, CpuPath};

use crate::{hash, models, texts, vectors};

/// Changes only together with the models' ids.
const STATIC_TABLE: u64 = 0x4f1d_b3a7_e9be_0df9;
const MINILM: u64 = 0x3601_2e28_ddba_49d1;

/// Few enough for the portable path, of every kind and length.
fn some() -> Vec<String> {
    texts().into_iter().step_by(30).chain([long()]).collect()
}

fn long() -> String {
    texts().join("\n")[..1500].to_owned()
}

#[test]
fn every_path_of_this_cpu_gives_the_recorded_bits() {
    for path in CpuPath::available() {
        let found = hash(&vectors(&BuiltIn::minilm().with_path(path), &some()));
        assert_eq!(found, MINILM, "{path:?} gives {found:#018x}");
    }
    let found = hash(&vectors(&BuiltIn::static_table(), &some()));
    assert_eq!(found, STATIC_TABLE, "{found:#018x}");
}

#[test]
fn a_vector_does_not_depend_on_what_is_embedded_with_it() {
    let model = BuiltIn::minilm();
    let together = vectors(&model, &some());
    for (text, want) in some().into_iter().zip(together).step_by(2) {
        assert_eq!(vectors(&model, &[text]), [want]);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn concurrent_calls_give_what_single_ones_do() {
    for model in models() {
        let model = Arc::new(model);
        let texts = some();
        let want = vectors(&model, &texts);
        let calls: Vec<_> = (0..4)
            .map(|_| {
                let (model, texts) = (Arc::clone(&model), texts.clone());
                tokio::spawn(async move { model.embed(texts).await })
            })
            .collect();
        for call in calls {
            assert_eq!(call.await.unwrap().unwrap(), want);
        }
    }
}
