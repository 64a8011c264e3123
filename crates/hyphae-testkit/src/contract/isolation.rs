//! Nobody sees what is not theirs: every verb against a plain model of who sees what, over a
//! made-up history, the same in every run.

use std::collections::BTreeSet;

use hyphae_core::{
    cell::{CellType, Visibility},
    ids::{CellId, SessionId},
    ports::{Committed, NewCell, Sequence},
    scope::{Owner, Scope},
};

use super::{
    Subject,
    fixture::{World, link, project, revise, vector},
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

/// Stores cells at random, linked with what came before, and merges some.
async fn history(
    world: &World<'_>,
    scopes: &[Scope],
    session: SessionId,
    dice: &mut Dice,
) -> Vec<(Scope, NewCell)> {
    let mut kept: Vec<(Scope, NewCell)> = Vec::new();
    for n in 0..60 {
        let home = &scopes[dice.roll(scopes.len())];
        let mut new = world.cell(home, &format!("text {n}"));
        new.cell.visibility =
            [Visibility::Project, Visibility::Private, Visibility::Shared][dice.roll(3)];
        new.cell.origin.session = Some(session);
        // Links to anything, also to what must not be linked.
        new.derived.links = kept
            .iter()
            .map(|(_, other)| link(other.cell.id, 0.5))
            .filter(|_| dice.roll(3) == 0)
            .collect();
        kept.push((home.clone(), world.keep(home, new).await));
    }
    kept
}

pub async fn no_verb_shows_what_is_not_visible(subject: &dyn Subject) {
    let world = World::new(subject).await;
    let scopes = scopes(&world).await;
    let session = SessionId::new(world.id());
    let kept = history(&world, &scopes, session, &mut Dice(42)).await;
    let all: Vec<CellId> = kept.iter().map(|(_, new)| new.cell.id).collect();
    let store = subject.memories();
    for scope in &scopes {
        let visible: Vec<CellId> = kept
            .iter()
            .filter(|(home, new)| sees(scope, home, new.cell.visibility))
            .map(|(_, new)| new.cell.id)
            .collect();
        assert!(!visible.is_empty() && visible.len() < all.len());

        let changes = store.changes(scope, Sequence(0), usize::MAX).await.unwrap();
        let told: Vec<CellId> = changes.iter().map(|change| change.id).collect();
        assert_eq!(told, visible, "nothing is told of what was never visible");
        for change in changes {
            let home = &kept
                .iter()
                .find(|(_, new)| new.cell.id == change.id)
                .unwrap()
                .0;
            assert_eq!(
                change.entry.unwrap().own_project,
                home.project == scope.project
            );
        }

        let cells = store.cells(scope, &all).await.unwrap();
        let found: Vec<CellId> = cells.iter().map(|cell| cell.id).collect();
        assert_eq!(found, visible);

        let links = store.links(scope, &all).await.unwrap();
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
}

pub async fn no_verb_changes_what_is_not_visible(subject: &dyn Subject) {
    let world = World::new(subject).await;
    let scopes = scopes(&world).await;
    let session = SessionId::new(world.id());
    let kept = history(&world, &scopes, session, &mut Dice(7)).await;
    let store = subject.memories();
    for scope in &scopes {
        for (home, new) in &kept {
            if sees(scope, home, new.cell.visibility) {
                continue;
            }
            let id = new.cell.id;
            let over = world.revise(&new.cell, |cell| cell.cell_type = CellType::Risk);
            let done = world.commit(scope, vec![revise(over)]).await;
            assert_eq!(done, Committed::Changed(id));
            store.touch(scope, &[id], world.now()).await.unwrap();
            let mut linked = world.cell(scope, &format!("{} to {id}", scope.credential));
            linked.derived.links = vec![link(id, 0.9)];
            world.keep(scope, linked.clone()).await;
            let found = store.links(home, &[id]).await.unwrap();
            let leads_there = |(_, links): &(CellId, Vec<_>)| {
                links
                    .iter()
                    .any(|link: &hyphae_core::ports::Link| link.to == linked.cell.id)
            };
            assert!(!found.iter().any(leads_there));
        }
    }
    for (home, new) in &kept {
        assert_eq!(
            world.find(home, new.cell.id).await.as_ref(),
            Some(&new.cell)
        );
    }
}

pub async fn a_tenant_is_maintained_alone(subject: &dyn Subject) {
    let world = World::new(subject).await;
    let (ana, eve) = (world.owner().await, world.stranger().await);
    let (here, there) = (ana.in_project(project("p")), eve.in_project(project("p")));
    let one = world.store(&here, "the same text").await;
    let two = world.store(&there, "the same text").await;
    let store = subject.memories();
    let other = super::fixture::other_model();
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
