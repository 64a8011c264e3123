use pretty_assertions::assert_eq;

use super::*;

#[track_caller]
fn check(angles: &[f32], rules: &Rules, want: &[&[u128]]) {
    let cells: Vec<(f32, &str)> = angles.iter().map(|angle| (*angle, "text")).collect();
    let mut project = Project::default();
    let plan = project.plan(&grains(&cells), &Since::Ever, rules);
    project.made.apply(&plan).unwrap();
    assert_eq!(project.scenes(), want);
}

#[test]
fn cells_that_lie_close_together_are_a_scene() {
    check(
        &[0.0, 100.0, 5.0, 105.0, 10.0, 110.0],
        &rules(),
        &[&[1, 3, 5], &[2, 4, 6]],
    );
}

#[test]
fn a_pair_and_a_lone_cell_are_none() {
    check(&[0.0, 5.0, 100.0], &rules(), &[]);
    check(&[], &rules(), &[]);
}

#[test]
fn a_cell_at_the_edge_belongs_to_its_nearest_dense_neighbour() {
    let denser = Rules {
        least: 4,
        ..rules()
    };
    let angles = [-9.0, -7.0, -5.0, 3.0, 22.0, 38.0, 50.0, 52.0, 54.0];
    check(&angles, &denser, &[&[1, 2, 3, 4], &[5, 6, 7, 8, 9]]);
    let angles = [-9.0, -7.0, -5.0, 5.0, 22.0, 41.0, 50.0, 52.0, 54.0];
    check(&angles, &denser, &[&[1, 2, 3, 4, 5], &[6, 7, 8, 9]]);
}

#[test]
fn what_is_too_large_is_split_into_its_dense_parts() {
    let bridged = [0.0, 1.0, 2.0, 3.0, 20.0, 40.0, 41.0, 42.0, 43.0];
    check(&bridged, &rules(), &[&[1, 2, 3, 4, 5, 6, 7, 8, 9]]);
    let small = Rules { most: 6, ..rules() };
    check(&bridged, &small, &[&[1, 2, 3, 4, 5], &[6, 7, 8, 9]]);
}

#[test]
fn what_has_no_parts_stays_whole_however_large_it_is() {
    let cells = vec![7.0; 300];
    let all: Vec<u128> = (1..=300).collect();
    check(&cells, &rules(), &[&all]);
}

#[test]
fn places_of_zeros_belong_to_no_scene() {
    let mut cells = grains(&[(0.0, "a"), (0.0, "b"), (0.0, "c")]);
    for cell in &mut cells {
        cell.place = Vector::quantise(&[0.0, 0.0, 0.0]);
    }
    let mut project = Project::default();
    for topic in [0.4, 0.0, -1.0] {
        let rules = Rules { topic, ..rules() };
        assert_eq!(project.plan(&cells, &Since::Ever, &rules).steps, []);
    }
}

#[test]
fn a_vector_of_another_model_is_passed_over() {
    let mut cells = grains(&[(0.0, "a"), (1.0, "b"), (2.0, "c"), (1.0, "d")]);
    cells[3].place = Vector::quantise(&[1.0, 0.0]);
    let mut project = Project::default();
    project.run(&cells);
    assert_eq!(project.scenes(), [[1, 2, 3]]);
}

#[test]
fn a_label_has_the_words_that_tell_a_scene_from_others() {
    let cells = grains(&[
        (0.0, "We use Postgres migrations for the schema"),
        (2.0, "The Postgres migrations run at the start"),
        (4.0, "Postgres migrations are append-only"),
        (100.0, "We use retries for the gateway"),
        (102.0, "The gateway has retries at the start"),
        (104.0, "Retries of the gateway are bounded"),
    ]);
    let mut project = Project::default();
    project.run(&cells);
    let labels: Vec<&str> = (project.made.scenes.values())
        .map(|scene| scene.label.as_str())
        .collect();
    assert_eq!(
        labels,
        ["postgres, migrations, run", "gateway, retries, start"]
    );
}

#[test]
fn a_label_is_never_empty() {
    let cells = grains(&[(0.0, "it is so"), (2.0, "it is not"), (4.0, "so it is")]);
    let mut project = Project::default();
    project.run(&cells);
    let scene = project.made.scenes.values().next().unwrap();
    assert_eq!(scene.label, "it is not");
}

#[test]
fn a_scene_that_grows_or_splits_keeps_its_node() {
    let mut cells = grains(&[(0.0, "a"), (2.0, "b"), (4.0, "c")]);
    let mut project = Project::default();
    project.run(&cells);
    let first = *project.made.scenes.keys().next().unwrap();
    cells.extend([4, 5, 6, 7].map(|n| grain(n, n, 40.0 + n as f32, "d")));
    cells.push(grain(8, 8, 22.0, "bridge"));
    let plan = project.plan(&cells, &since(&[4, 5, 6, 7, 8]), &rules());
    project.made.apply(&plan).unwrap();
    assert_eq!(project.scenes(), [[1, 2, 3, 4, 5, 6, 7, 8]]);
    assert_eq!(project.made.scene_of(id(8)), Some(first));
    cells.pop();
    let plan = project.plan(&cells, &since(&[8]), &rules());
    project.made.apply(&plan).unwrap();
    assert_eq!(project.scenes(), [vec![1, 2, 3], vec![4, 5, 6, 7]]);
    assert_eq!(project.made.scene_of(id(5)), Some(first), "the larger part");
    assert_eq!(project.made.scene_of(id(8)), None);
}

#[test]
fn what_is_far_from_a_change_is_not_touched() {
    let mut cells = grains(&[(0.0, "a"), (2.0, "b"), (4.0, "c")]);
    let mut project = Project::default();
    project.run(&cells);
    cells.extend([4, 5, 6].map(|n| grain(n, n, 90.0, "d")));
    let plan = project.plan(&cells, &since(&[4, 5, 6]), &rules());
    let scenes = |step: &Step| matches!(step, Step::Scene { before: None, .. });
    assert_eq!(plan.steps.iter().filter(|step| scenes(step)).count(), 1);
    assert_eq!(project.plan(&cells, &since(&[]), &rules()).steps, []);
}

#[test]
fn a_scene_whose_cells_are_gone_goes() {
    let cells = grains(&[(0.0, "a"), (2.0, "b"), (4.0, "c")]);
    let mut project = Project::default();
    project.run(&cells);
    let plan = project.plan(&cells[..2], &since(&[3]), &rules());
    project.made.apply(&plan).unwrap();
    assert_eq!(project.made, Made::default());
}
