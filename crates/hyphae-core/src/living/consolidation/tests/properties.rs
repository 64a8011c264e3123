use pretty_assertions::assert_eq;
use proptest::prelude::*;

use super::*;

const TEXTS: &[&str] = &["same", "same 1", "not same"];

fn small() -> Rules {
    Rules { most: 6, ..rules() }
}

/// Cells anywhere, of a few authors, most of which say the same.
fn any_grains(most: usize) -> impl Strategy<Value = Vec<Grain>> {
    let text = prop_oneof![4 => Just(0_usize), 1 => 1..TEXTS.len()];
    let cell = (0.0..180.0_f32, 1..6_u128, text);
    proptest::collection::vec(cell, 0..most).prop_map(|cells| {
        let numbered = (1..).zip(cells);
        let grains =
            numbered.map(|(n, (degrees, author, text))| grain(n, author, degrees, TEXTS[text]));
        grains.collect()
    })
}

proptest! {
    #[test]
    fn consolidating_again_changes_nothing(cells in any_grains(60), held in any::<bool>()) {
        let mut project = Project::default();
        let plan = project.plan(&cells, &Since::Ever, &small());
        project.made.apply(&plan).unwrap();
        if held {
            project.held = project.made.patterns.keys().copied().collect();
        }
        assert_eq!(project.plan(&cells, &Since::Ever, &small()).steps, []);
        let changed = Since::Changed(cells.iter().map(|cell| cell.id).collect());
        assert_eq!(project.plan(&cells, &changed, &small()).steps, []);
    }

    #[test]
    fn undoing_is_the_identity(cells in any_grains(60), cut in 0..60_usize, gone in 0..60_usize) {
        let mut project = Project::default();
        let plan = project.plan(&cells[..cut.min(cells.len())], &Since::Ever, &small());
        project.made.apply(&plan).unwrap();
        let before = project.made.clone();
        let later = &cells[gone.min(cells.len())..];
        let plan = project.plan(later, &Since::Ever, &small());
        project.made.apply(&plan).unwrap();
        let after = project.made.clone();
        prop_assert_eq!(plan.undone().undone(), plan.clone());
        project.made.apply(&plan.undone()).unwrap();
        assert_eq!(project.made, before);
        project.made.apply(&plan).unwrap();
        assert_eq!(project.made, after);
    }

    #[test]
    fn scenes_are_the_same_however_the_cells_came(
        cells in any_grains(60), cuts in proptest::collection::vec(1..12_usize, 1..20)
    ) {
        let mut little = Project::default();
        let mut rest = cells.as_slice();
        for cut in cuts {
            let (now, later) = rest.split_at(cut.min(rest.len()));
            let new = Since::Changed(now.iter().map(|cell| cell.id).collect());
            rest = later;
            let plan = little.plan(&cells[..cells.len() - rest.len()], &new, &small());
            little.made.apply(&plan).unwrap();
        }
        let new = Since::Changed(rest.iter().map(|cell| cell.id).collect());
        let plan = little.plan(&cells, &new, &small());
        little.made.apply(&plan).unwrap();
        let mut whole = Project::default();
        let plan = whole.plan(&cells, &Since::Ever, &small());
        whole.made.apply(&plan).unwrap();
        assert_eq!(little.scenes(), whole.scenes());
    }

    #[test]
    fn scenes_are_the_same_after_cells_went(
        cells in any_grains(40), gone in proptest::collection::btree_set(1..40_u128, 0..10)
    ) {
        let mut project = Project::default();
        let plan = project.plan(&cells, &Since::Ever, &small());
        project.made.apply(&plan).unwrap();
        let gone: Vec<u128> = gone.into_iter().collect();
        let is_gone = |cell: &Grain| gone.contains(&cell.id.uuid().as_u128());
        let rest: Vec<Grain> = cells.iter().filter(|cell| !is_gone(cell)).cloned().collect();
        let plan = project.plan(&rest, &since(&gone), &small());
        project.made.apply(&plan).unwrap();
        let mut anew = Project::default();
        let plan = anew.plan(&rest, &Since::Ever, &small());
        anew.made.apply(&plan).unwrap();
        assert_eq!(project.scenes(), anew.scenes());
    }

    #[test]
    fn the_order_of_cells_does_not_matter(cells in any_grains(60), turn in 0..60_usize) {
        let mut turned = cells.clone();
        let by = turn % turned.len().max(1);
        turned.rotate_left(by);
        turned.reverse();
        let plan = |cells: &[Grain]| Project::default().plan(cells, &Since::Ever, &small());
        assert_eq!(plan(&cells), plan(&turned));
    }

    #[test]
    fn scenes_share_no_cell_and_patterns_are_of_one_mind(cells in any_grains(60)) {
        let mut project = Project::default();
        let plan = project.plan(&cells, &Since::Ever, &small());
        project.made.apply(&plan).unwrap();
        let mut seen = BTreeSet::new();
        for scene in project.made.scenes.values() {
            prop_assert!(scene.members.len() >= 3 && !scene.label.is_empty());
            prop_assert!(scene.members.iter().all(|member| seen.insert(*member)));
        }
        let mut seen = BTreeSet::new();
        for pattern in project.made.patterns.values() {
            let sources: Vec<&Grain> =
                cells.iter().filter(|cell| pattern.sources.contains(&cell.id)).collect();
            let authors: BTreeSet<_> = sources.iter().map(|cell| cell.author).collect();
            prop_assert!((3..=4).contains(&sources.len()) && authors.len() == sources.len());
            prop_assert!(pattern.sources.contains(&pattern.text_of));
            for (at, one) in sources.iter().enumerate() {
                prop_assert!(seen.insert(one.id), "of two patterns");
                for other in &sources[at + 1..] {
                    prop_assert!(one.place.cosine(&other.place) >= small().same);
                    prop_assert_eq!(&one.content, &other.content);
                }
            }
        }
    }
}
