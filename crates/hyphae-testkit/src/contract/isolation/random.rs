//! Every verb against a plain model of who sees what, over a made-up history, the same in every
//! run.

use crate::contract::fixture::model;
use std::collections::BTreeSet;

use hyphae_core::{
    cell::{Cell, CellType, Visibility},
    conflict::Conflict,
    ids::{CellId, DiffId, EdgeId, SessionId},
    ports::{Committed, Link, Sequence, Step, Wanted},
    relation::{Relation, RelationKind},
    scope::{Owner, Scope},
};
use uuid::Uuid;

use crate::contract::{
    Subject,
    fixture::{World, insert, link, project, relate, revise, topic, vector},
    seen::Seen,
};

/// Random numbers without randomness.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % sides as u64) as usize
    }
}

/// Whether `scope` may see what was stored in `home`.
fn sees(scope: &Scope, home: &Scope, visibility: Visibility) -> bool {
    scope.tenant == home.tenant
        && match visibility {
            Visibility::Shared => true,
            Visibility::Project => scope.project == home.project,
            Visibility::Private => scope == home,
        }
}

/// Two people of one tenant and a stranger, each in two projects.
async fn scopes(world: &World<'_>) -> Vec<Scope> {
    let owners: [Owner; 3] = [
        world.owner().await,
        world.owner().await,
        world.stranger().await,
    ];
    let in_both = |owner: Owner| ["p", "q"].map(|name| owner.in_project(project(name)));
    owners.into_iter().flat_map(in_both).collect()
}

/// What happened, as far as it is to be seen.
struct History {
    /// All cells as they are, by age, each with where it was stored.
    cells: Vec<(Scope, Cell)>,
    /// Their ids, by their last change.
    changed: Vec<CellId>,
    diffs: Vec<(CellId, DiffId)>,
    relations: Vec<Relation>,
    conflicts: Vec<Conflict>,
    confirmed: Vec<CellId>,
}

impl History {
    fn sees(&self, scope: &Scope, id: CellId) -> bool {
        self.cells
            .iter()
            .any(|(home, cell)| cell.id == id && sees(scope, home, cell.visibility))
    }

    /// Stores cells at random, linked with what came before, and does things to some that their
    /// doer can see.
    async fn made_up(
        world: &World<'_>,
        scopes: &[Scope],
        session: SessionId,
        dice: &mut Dice,
    ) -> Self {
        let mut history = Self {
            cells: Vec::new(),
            changed: Vec::new(),
            diffs: Vec::new(),
            relations: Vec::new(),
            conflicts: Vec::new(),
            confirmed: Vec::new(),
        };
        for n in 0..60 {
            let home = &scopes[dice.roll(scopes.len())];
            let mut new = world.cell(home, &format!("text {n}"));
            new.cell.visibility = Visibility::ALL[dice.roll(3)];
            new.cell.origin.session = Some(session);
            new.cell.topic = Some(topic(&format!("topic {n}")));
            // Links to anything, also to what must not be linked.
            new.derived.links = history
                .changed
                .iter()
                .map(|id| link(*id, 0.5))
                .filter(|_| dice.roll(3) == 0)
                .collect();
            let new = world.keep(home, new).await;
            history.changed.push(new.cell.id);
            history.diffs.push((new.cell.id, new.diff));
            history.cells.push((home.clone(), new.cell));
            history
                .happens(world, &scopes[dice.roll(scopes.len())], dice)
                .await;
        }
        history
    }

    /// Lets `scope` do something to what it can see.
    async fn happens(&mut self, world: &World<'_>, scope: &Scope, dice: &mut Dice) {
        let visible: Vec<usize> = (0..self.cells.len())
            .filter(|&at| sees(scope, &self.cells[at].0, self.cells[at].1.visibility))
            .collect();
        let [.., _, _] = visible[..] else { return };
        let first = dice.roll(visible.len());
        let other = (first + 1 + dice.roll(visible.len() - 1)) % visible.len();
        let (from, to) = (visible[first], visible[other]);
        let (a, b) = (self.cells[from].1.clone(), self.cells[to].1.id);
        match dice.roll(4) {
            0 => {
                let kind = RelationKind::ALL[self.relations.len() % 8];
                let relation = world.relation(scope, a.id, kind, b);
                let done = world.commit(scope, vec![relate(&relation)]).await;
                if done.is_done() {
                    self.relations.push(relation);
                }
            }
            1 => {
                let conflict = world.conflict(scope, a.id, b);
                let diff = DiffId::new(world.id());
                let open = Step::OpenConflict {
                    conflict: Box::new(conflict.clone()),
                    diff,
                };
                world.done(scope, vec![open]).await;
                let pair = [(a.id, b), (b, a.id)];
                let mut open = self.conflicts.iter();
                if !open.any(|other| pair.contains(&(other.left, other.right))) {
                    self.conflicts.push(conflict);
                    self.diffs.push((a.id, diff));
                }
            }
            2 => {
                let confirm = Step::Confirm {
                    id: a.id,
                    revision: a.revision,
                    evidence: None,
                };
                world.done(scope, vec![confirm]).await;
                self.cells[from].1 = world.find(scope, a.id).await.unwrap();
                self.confirmed.push(a.id);
            }
            _ => {
                let revision = world.revise(&a, |cell| cell.cell_type = CellType::Task);
                self.cells[from].1 = revision.cell.clone();
                self.diffs.push((a.id, revision.diff));
                self.changed.retain(|id| *id != a.id);
                self.changed.push(a.id);
                world.done(scope, vec![revise(revision)]).await;
            }
        }
    }
}

/// Checks what recall is told.
async fn check_recall(world: &World<'_>, scope: &Scope, history: &History, session: SessionId) {
    let store = world.subject.memories();
    let visible: Vec<CellId> = history.cells.iter().map(|(_, cell)| cell.id).collect();
    let all = visible.clone();
    let visible: Vec<CellId> = visible
        .into_iter()
        .filter(|id| history.sees(scope, *id))
        .collect();
    assert!(!visible.is_empty() && visible.len() < all.len());

    let changes = store
        .changes(scope, Sequence(0), usize::MAX, &model())
        .await
        .unwrap();
    let told: Vec<CellId> = changes.iter().map(|change| change.id).collect();
    let want = history.changed.iter().copied();
    let want: Vec<CellId> = want.filter(|id| history.sees(scope, *id)).collect();
    assert_eq!(told, want, "nothing is told of what was never visible");
    for change in changes {
        let of_change = |(_, cell): &&(Scope, Cell)| cell.id == change.id;
        let home = &history.cells.iter().find(of_change).unwrap().0;
        let own = home.project == scope.project;
        assert_eq!(change.entry.unwrap().own_project, own);
    }

    let cells = store.cells(scope, &all).await.unwrap();
    let of_scope = history
        .cells
        .iter()
        .filter(|(_, cell)| visible.contains(&cell.id));
    let want: Vec<&Cell> = of_scope.map(|(_, cell)| cell).collect();
    assert_eq!(cells.iter().collect::<Vec<_>>(), want);

    let links = store.links(scope, &all, &|_| false).await.unwrap();
    let from: Vec<CellId> = links.iter().map(|(from, _)| *from).collect();
    assert_eq!(from, visible);
    let to: BTreeSet<CellId> = links
        .iter()
        .flat_map(|(_, links)| links.iter().map(|link| link.to))
        .collect();
    assert!(to.iter().all(|to| visible.contains(to)));
    assert!(!to.is_empty());

    let last = store.last_of_session(scope, session).await.unwrap();
    assert_eq!(last.map(|cell| cell.id), visible.last().copied());
}

/// Checks what people and agents are shown.
async fn check_shown(world: &World<'_>, scope: &Scope, history: &History) {
    let store = world.subject.memories();
    let all: Vec<CellId> = history.cells.iter().map(|(_, cell)| cell.id).collect();
    let visible = |id: CellId| history.sees(scope, id);

    let want = history.relations.iter();
    let want: Vec<&Relation> = want.filter(|r| visible(r.from) && visible(r.to)).collect();
    let ids: Vec<EdgeId> = history.relations.iter().map(|r| r.id).collect();
    let by_id = store.relations_by_id(scope, &ids).await.unwrap();
    assert_eq!(by_id.iter().collect::<Vec<_>>(), want);
    let around = store.relations(scope, &all, true).await.unwrap();
    assert_eq!(around.iter().collect::<Vec<_>>(), want);
    for id in &all {
        let around = store.relations(scope, &[*id], true).await.unwrap();
        let want = want.iter().filter(|r| r.from == *id || r.to == *id);
        assert_eq!(
            around.iter().collect::<Vec<_>>(),
            want.copied().collect::<Vec<_>>()
        );
    }

    let want = history.conflicts.iter();
    let want: Vec<&Conflict> = want
        .filter(|c| visible(c.left) && visible(c.right))
        .collect();
    for about in [&[][..], &all] {
        let open = store.open_conflicts(scope, about, None, 999).await.unwrap();
        assert_eq!(open.iter().collect::<Vec<_>>(), want);
    }
    for conflict in &history.conflicts {
        let found = store.conflict(scope, conflict.id).await.unwrap();
        let want = want.contains(&conflict).then_some(conflict);
        assert_eq!(found.as_ref(), want);
    }

    let confirmations = store.confirmations(scope, &all).await.unwrap();
    let found: BTreeSet<CellId> = confirmations.iter().map(|c| c.cell).collect();
    let want = history.confirmed.iter().copied().filter(|id| visible(*id));
    assert_eq!(found, want.collect());

    for (_, cell) in &history.cells {
        let past = store.history(scope, cell.id).await.unwrap();
        let want = if visible(cell.id) {
            cell.revision - 1
        } else {
            0
        };
        assert_eq!(past.len() as u32, want);
        let of_topic = store
            .cell_of_topic(scope, cell.topic.as_ref().unwrap(), cell.visibility)
            .await
            .unwrap();
        let own = cell.project == scope.project && visible(cell.id);
        assert_eq!(of_topic.as_ref(), own.then_some(cell));
    }

    let diffs = world.diffs(scope).await;
    let found: Vec<(CellId, DiffId)> = diffs.iter().map(|diff| (diff.cell, diff.id)).collect();
    let want = history.diffs.iter().copied().filter(|(id, _)| visible(*id));
    assert_eq!(found, want.collect::<Vec<_>>());
    let others = diffs.iter().filter_map(|diff| diff.other);
    assert!(others.into_iter().all(visible));

    let shown = history.cells.iter().filter(|(_, cell)| visible(cell.id));
    let mut want: Vec<&str> = shown
        .filter_map(|(_, cell)| Some(cell.topic.as_ref()?.as_str()))
        .collect();
    want.sort_unstable();
    let topics = store.names(scope, Wanted::Topic, "", 999).await.unwrap();
    assert_eq!(topics, want);
    let found = store.ids_beginning(scope, Wanted::Cell, "0", 999).await;
    let want = all.iter().copied().filter(|id| visible(*id));
    assert_eq!(
        found.unwrap(),
        want.map(CellId::uuid).collect::<Vec<Uuid>>()
    );
}

pub async fn no_verb_shows_what_is_not_visible(subject: &dyn Subject) {
    let world = World::new(subject).await;
    let scopes = scopes(&world).await;
    let session = SessionId::new(world.id());
    let history = History::made_up(&world, &scopes, session, &mut Dice(42)).await;
    assert!(history.relations.len() > 5 && history.conflicts.len() > 5);
    for scope in &scopes {
        check_recall(&world, scope, &history, session).await;
        check_shown(&world, scope, &history).await;
    }
}

/// Returns each step that touches a cell, a relation or a conflict.
fn touches(world: &World<'_>, scope: &Scope, cell: &Cell, own: CellId) -> Vec<Step> {
    let id = cell.id;
    let related = |from, to| relate(&world.relation(scope, from, RelationKind::Related, to));
    vec![
        revise(world.revise(cell, |cell| cell.cell_type = CellType::Risk)),
        world.erase(cell),
        related(id, own),
        related(own, id),
        Step::Confirm {
            id,
            revision: cell.revision,
            evidence: None,
        },
        world.open(&world.conflict(scope, id, own)),
        world.open(&world.conflict(scope, own, id)),
        Step::Key {
            key: [0; 32],
            cell: id,
        },
    ]
}

pub async fn no_verb_changes_what_is_not_visible(subject: &dyn Subject) {
    let world = World::new(subject).await;
    let scopes = scopes(&world).await;
    let session = SessionId::new(world.id());
    let history = History::made_up(&world, &scopes, session, &mut Dice(7)).await;
    let store = subject.memories();
    for scope in &scopes {
        let own = world
            .store(scope, &format!("of {}", scope.credential))
            .await;
        let own = own.cell.id;
        let before = Seen::by(&world, scope).await;
        for (home, cell) in &history.cells {
            if sees(scope, home, cell.visibility) {
                continue;
            }
            let id = cell.id;
            for step in touches(&world, scope, cell, own) {
                let done = world.commit(scope, vec![step]).await;
                assert_eq!(done, Committed::Changed(id));
            }
            store.touch(scope, &[id], world.now()).await.unwrap();
        }
        let see = |r: &Relation| history.sees(scope, r.from) && history.sees(scope, r.to);
        for hidden in history.relations.iter().filter(|r| !see(r)) {
            let id = hidden.id;
            for step in [
                Step::SetRelation { id, active: false },
                Step::EraseRelation { id },
            ] {
                let done = world.commit(scope, vec![step]).await;
                assert_eq!(done, Committed::RelationGone(id));
            }
        }
        assert_eq!(Seen::by(&world, scope).await, before);
    }
    for scope in &scopes {
        check_links_of_others(&world, scope, &history).await;
    }
    for (home, cell) in &history.cells {
        assert_eq!(world.find(home, cell.id).await.as_ref(), Some(cell));
    }
    for conflict in &history.conflicts {
        let home = scopes.iter().find(|scope| {
            history.sees(scope, conflict.left) && history.sees(scope, conflict.right)
        });
        let found = store.conflict(home.unwrap(), conflict.id).await.unwrap();
        assert_eq!(found.as_ref(), Some(conflict));
    }
}

/// Checks that a new cell is not linked to what its writer cannot see.
async fn check_links_of_others(world: &World<'_>, scope: &Scope, history: &History) {
    for (home, cell) in &history.cells {
        if history.sees(scope, cell.id) {
            continue;
        }
        let mut linked = world.cell(scope, &format!("{} to {}", scope.project, world.id()));
        linked.derived.links = vec![link(cell.id, 0.9)];
        world.done(scope, vec![insert(&linked)]).await;
        let links = world.links(home, cell.id).await;
        let leads_there = |link: &Link| link.to == linked.cell.id;
        assert!(!links.iter().any(leads_there));
    }
}

pub async fn a_tenant_is_maintained_alone(subject: &dyn Subject) {
    let world = World::new(subject).await;
    let (ana, eve) = (world.owner().await, world.stranger().await);
    let (here, there) = (ana.in_project(project("p")), eve.in_project(project("p")));
    let one = world.store(&here, "the same text").await;
    let two = world.store(&there, "the same text").await;
    let store = subject.memories();
    let other = crate::contract::fixture::other_model();
    store.choose_model(eve, &other).await.unwrap();
    assert_eq!(store.stale_vectors(ana, 9).await.unwrap(), []);
    let stale = store.stale_vectors(eve, 9).await.unwrap();
    let ids: Vec<CellId> = stale.iter().map(|stale| stale.id).collect();
    assert_eq!(ids, [two.cell.id]);
    let vectors = [one.cell.id, two.cell.id].map(|id| (id, 1, vector("other")));
    store.replace_vectors(eve, &other, &vectors).await.unwrap();
    let changes = world.changes(&here).await;
    let entry = changes[0].entry.as_ref().unwrap();
    assert_eq!(entry.vector.as_ref(), Some(&one.derived.vector));
    assert_eq!(store.statistics(eve).await.unwrap().cells, 1);
}
