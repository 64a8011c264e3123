use pretty_assertions::assert_eq;

use super::*;

/// Three agents that say the same, and one that says something else about it.
fn three() -> Vec<Grain> {
    grains(&[
        (0.0, "Retries hide timeouts"),
        (2.0, "The retry hides a timeout"),
        (4.0, "Retries are hiding timeouts"),
        (20.0, "Retries are bounded"),
    ])
}

#[track_caller]
fn check(cells: &[Grain], want: &[&[u128]]) {
    let mut project = Project::default();
    project.run(cells);
    assert_eq!(project.patterns(), want);
}

#[test]
fn what_three_agents_say_is_a_pattern_in_the_words_of_the_one_in_the_middle() {
    let mut cells = three();
    cells[0].salience = Share::new(0.8).unwrap();
    let mut project = Project::default();
    project.run(&cells);
    let pattern = project.made.patterns.values().next().unwrap();
    let want = Pattern {
        text_of: id(2),
        salience: Share::new((0.5 + 0.5 + 0.8) / 3.0 + 0.2).unwrap(),
        sources: BTreeSet::from([id(1), id(2), id(3)]),
    };
    assert_eq!((&want, project.made.patterns.len()), (pattern, 1));
}

#[test]
fn what_fewer_agents_say_is_none_however_often_they_say_it() {
    let mut cells = three();
    cells[2].author = cells[0].author;
    check(&cells, &[]);
    check(&three()[..2], &[]);
}

#[test]
fn each_agent_is_a_source_once() {
    let mut cells = three();
    cells.push(grain(5, 1, 1.0, "Retries hide timeouts again"));
    cells.push(grain(6, 2, 2.5, "Retries hide timeouts too often"));
    cells.push(grain(7, 2, 3.0, "Retries hide timeouts elsewhere"));
    let mut project = Project::default();
    project.run(&cells);
    assert_eq!(project.patterns().len(), 1, "{:?}", project.patterns());
    let sources = &project.patterns()[0];
    let authors: BTreeSet<_> = (cells.iter())
        .filter(|cell| sources.contains(&cell.id.uuid().as_u128()))
        .map(|cell| cell.author)
        .collect();
    assert_eq!((sources.len(), authors.len()), (3, 3));
}

#[test]
fn each_source_says_the_same_as_each_other() {
    let angles = [0.0, 7.0, 14.0, 40.0, 42.0, 44.0];
    check(&grains(&angles.map(|angle| (angle, "text"))), &[&[4, 5, 6]]);
    let mut cells = three();
    cells[0].content = Content::new("Retries hide timeouts now").unwrap();
    check(&cells, &[&[1, 2, 3]]);
    cells[1].content = Content::new("Retries hide timeouts here").unwrap();
    check(&cells, &[]);
}

#[test]
fn other_numbers_and_known_opposites_are_no_sources() {
    let mut cells = three();
    cells[1].content = Content::new("3 retries hide timeouts").unwrap();
    check(&cells, &[]);
    for pair in [(1, 2), (2, 1)] {
        let mut project = Project::default();
        let plan = project.plan_but(&three(), &Since::Ever, &rules(), &[pair]);
        let patterns = plan
            .steps
            .iter()
            .filter(|step| matches!(step, Step::Pattern { .. }));
        assert_eq!(patterns.count(), 0);
    }
}

#[test]
fn a_pattern_is_no_source() {
    let mut cells = three();
    cells[0].cell_type = CellType::Pattern;
    check(&cells, &[]);
}

#[test]
fn the_cell_of_a_pattern_moves_neither_scenes_nor_patterns() {
    let mut cells = three();
    let mut project = Project::default();
    project.run(&cells);
    let pattern = *project.made.patterns.keys().next().unwrap();
    cells.push(Grain {
        id: pattern,
        cell_type: CellType::Pattern,
        ..cells[1].clone()
    });
    assert_eq!(project.plan(&cells, &Since::Ever, &rules()).steps, []);
    let changed = Since::Changed(BTreeSet::from([pattern]));
    assert_eq!(project.plan(&cells, &changed, &rules()).steps, []);
    assert_eq!(project.made.scene_of(pattern), project.made.scene_of(id(2)));
}

#[test]
fn who_says_it_later_joins_a_pattern_until_it_has_enough_sources() {
    let mut cells = three();
    let mut project = Project::default();
    project.run(&cells);
    let before = project.made.patterns.clone();
    cells.extend([5, 6].map(|n| grain(n, n, 3.0, "Retries hide timeouts, really")));
    let plan = project.plan(&cells, &since(&[5, 6]), &rules());
    project.made.apply(&plan).unwrap();
    assert_eq!(project.patterns(), [[1, 2, 3, 5]]);
    let text = |patterns: &BTreeMap<CellId, Pattern>| {
        let one = patterns.values().next().unwrap();
        (one.text_of, one.salience)
    };
    assert_eq!(
        text(&project.made.patterns),
        text(&before),
        "its text stays"
    );
}

#[test]
fn a_pattern_goes_with_its_sources_unless_somebody_holds_it() {
    let cells = three();
    let mut project = Project::default();
    project.run(&cells);
    let pattern = *project.made.patterns.keys().next().unwrap();
    let gone = project.plan(&cells[1..], &since(&[1]), &rules());
    let step = |step: &&Step| matches!(step, Step::Pattern { after: None, .. });
    assert_eq!(gone.steps.iter().filter(step).count(), 1);
    project.held.insert(pattern);
    let kept = project.plan(&cells[1..], &since(&[1]), &rules());
    assert_eq!(kept.steps.iter().filter(step).count(), 0);
}

#[test]
fn a_pattern_whose_words_are_taken_back_takes_those_of_another_source() {
    let mut cells = three();
    cells.insert(3, grain(9, 9, 3.0, "Retries hide timeouts today"));
    let mut project = Project::default();
    project.run(&cells);
    let (pattern, text_of) = {
        let (id, pattern) = project.made.patterns.iter().next().unwrap();
        (*id, pattern.text_of)
    };
    cells.retain(|cell| cell.id != text_of);
    let plan = project.plan(&cells, &Since::Ever, &rules());
    project.made.apply(&plan).unwrap();
    let after = &project.made.patterns[&pattern];
    assert_eq!(after.sources.len(), 3);
    assert!(after.sources.contains(&after.text_of) && after.text_of != text_of);
}

#[test]
fn a_source_that_now_says_something_else_is_one_no_longer() {
    let mut cells = three();
    cells.push(grain(5, 5, 3.0, "Retries hide timeouts, really"));
    let mut project = Project::default();
    project.run(&cells);
    assert_eq!(project.patterns(), [[1, 2, 3, 5]]);
    cells[0].place = Vector::quantise(&[0.0, 0.0, 1.0]);
    let plan = project.plan(&cells, &since(&[1]), &rules());
    project.made.apply(&plan).unwrap();
    assert_eq!(project.patterns(), [[2, 3, 5]]);
}
