mod patterns;
mod properties;
mod scenes;

use super::*;

/// In degrees: 25 to a topic, 10 to the same thing.
fn rules() -> Rules {
    let cosine = |degrees: f32| degrees.to_radians().cos();
    Rules {
        topic: cosine(25.0),
        same: cosine(10.0),
        least: 3,
        most: 64,
        agents: 3,
        sources: 4,
    }
}

fn id(n: u128) -> CellId {
    CellId::new(Uuid::from_u128(n))
}

fn credential(n: u128) -> CredentialId {
    CredentialId::new(Uuid::from_u128(n))
}

/// A cell at an angle.
fn grain(n: u128, author: u128, degrees: f32, text: &str) -> Grain {
    let radians = degrees.to_radians();
    Grain {
        id: id(n),
        author: credential(author),
        cell_type: CellType::Fact,
        salience: Share::HALF,
        place: Vector::quantise(&[radians.cos(), radians.sin(), 0.1]),
        content: Content::new(text).unwrap(),
    }
}

/// Cells 1, 2, 3, … of as many authors.
fn grains(cells: &[(f32, &str)]) -> Vec<Grain> {
    (1..)
        .zip(cells)
        .map(|(n, (degrees, text))| grain(n, n, *degrees, text))
        .collect()
}

/// A project that is consolidated again and again.
#[derive(Debug, Default)]
struct Project {
    made: Made,
    held: BTreeSet<CellId>,
    ids: u128,
}

impl Project {
    fn plan(&mut self, grains: &[Grain], since: &Since, rules: &Rules) -> Plan {
        self.plan_but(grains, since, rules, &[])
    }

    fn plan_but(
        &mut self,
        grains: &[Grain],
        since: &Since,
        rules: &Rules,
        opposed: &[(u128, u128)],
    ) -> Plan {
        let input = Input {
            grains,
            made: &self.made,
            since,
            held: &self.held,
        };
        let opposed = |a, b| opposed.iter().any(|(x, y)| (id(*x), id(*y)) == (a, b));
        plan(input, rules, &opposed, &mut || {
            self.ids += 1;
            Uuid::from_u128(1000 + self.ids)
        })
    }

    fn run(&mut self, grains: &[Grain]) -> Plan {
        let plan = self.plan(grains, &Since::Ever, &rules());
        self.made.apply(&plan).unwrap();
        plan
    }

    /// The scenes as sets of cells, by their oldest cells.
    fn scenes(&self) -> Vec<Vec<u128>> {
        let mut scenes: Vec<Vec<u128>> = (self.made.scenes.values())
            .map(|scene| numbers(&scene.members))
            .collect();
        scenes.sort_unstable();
        scenes
    }

    /// The sources of patterns.
    fn patterns(&self) -> Vec<Vec<u128>> {
        let patterns = self.made.patterns.values();
        patterns.map(|pattern| numbers(&pattern.sources)).collect()
    }
}

fn numbers(ids: &BTreeSet<CellId>) -> Vec<u128> {
    ids.iter().map(|id| id.uuid().as_u128()).collect()
}

fn since(cells: &[u128]) -> Since {
    Since::Changed(cells.iter().map(|n| id(*n)).collect())
}

#[test]
fn a_plan_for_another_state_is_refused_and_changes_nothing() {
    let cells = grains(&[(0.0, "a"), (1.0, "b"), (2.0, "c")]);
    let mut project = Project::default();
    let plan = project.run(&cells);
    assert!(!plan.is_empty());
    let made = project.made.clone();
    assert_eq!(project.made.apply(&plan), Err(Stale));
    assert_eq!(project.made, made);
    project.made.apply(&plan.undone()).unwrap();
    assert_eq!(project.made, Made::default());
    assert_eq!(project.made.apply(&plan.undone()), Err(Stale));
}

#[test]
fn the_cell_of_a_pattern_says_what_its_medoid_says() {
    let pattern = Pattern {
        text_of: id(1),
        salience: Share::new(0.7).unwrap(),
        sources: BTreeSet::from([id(1), id(2), id(3)]),
    };
    let at = Timestamp::from_second(5).unwrap();
    let medoid = Cell {
        id: id(1),
        content: Content::new("Retries hide timeouts").unwrap(),
        cell_type: CellType::Risk,
        salience: Share::HALF,
        confidence: Share::HALF,
        author: credential(4),
        project: crate::scope::Project::named("p").unwrap(),
        layer: Layer::L0,
        visibility: Visibility::Shared,
        status: Status::Active,
        revision: 4,
        content_revision: 2,
        topic: Some(crate::label::Topic::new("retries").unwrap()),
        tags: crate::label::Tags::default(),
        validity: crate::cell::Validity::ALWAYS,
        verified_at: Some(at),
        origin: Origin {
            position: Some(3),
            ..Origin::default()
        },
        created_at: Timestamp::UNIX_EPOCH,
        updated_at: Timestamp::UNIX_EPOCH,
    };
    let cell = pattern_cell(&pattern, &medoid, id(9), at);
    let want = Cell {
        id: id(9),
        cell_type: CellType::Pattern,
        salience: pattern.salience,
        visibility: Visibility::Project,
        revision: 1,
        content_revision: 1,
        topic: None,
        verified_at: None,
        origin: Origin {
            source: Source::AgentInferred,
            ..Origin::default()
        },
        created_at: at,
        updated_at: at,
        ..medoid
    };
    assert_eq!(cell, want);
}

#[test]
fn the_rules_of_a_model_tell_topics_from_the_same_thing() {
    let rules = Rules::for_model(&Calibration {
        unrelated_below: 0.2,
        same_subject_from: 0.4,
        near_duplicate_from: 0.9,
    });
    assert!((rules.topic - 0.4).abs() < 1e-6 && (rules.same - 0.8).abs() < 1e-6);
}
