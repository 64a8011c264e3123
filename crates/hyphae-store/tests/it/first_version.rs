//! A database of the first version is brought to this one with nothing lost.

use hyphae_core::{
    cell::{Cell, Content, Status, Visibility},
    credential::Credential,
    diff::Diff,
    ids::{CellId, CredentialId},
    ports::{
        AuditFilter, Committed, CredentialStore, Entry, Link, Past, Sequence, Statistics, Wanted,
    },
    scope::{Owner, Scope},
};
use hyphae_store::{SqliteOptions, Store};
use hyphae_testkit::contract::{
    Subject,
    fixture::{World, insert, model, other_model, project, revise, vector},
};
use jiff::Timestamp;

use crate::{
    old_file::{Old, OldWorld, old_file, time},
    processes::agree_after,
    subject::OnDisk,
};

async fn opened(folder: tempfile::TempDir) -> OnDisk {
    let path = folder.path().join("hyphae.db");
    OnDisk {
        store: Store::open_file(&path, SqliteOptions::default())
            .await
            .unwrap(),
        folder: std::sync::Arc::new(folder),
    }
}

fn scope(old: &OldWorld, credential: CredentialId, name: &str) -> Scope {
    let owner = Owner {
        tenant: old.tenant,
        credential,
    };
    owner.in_project(project(name))
}

#[tokio::test]
async fn what_an_update_would_do_is_shown_and_not_done() {
    let (folder, _) = old_file().await;
    let path = folder.path().join("hyphae.db");
    let look = async || Store::schema_of_file(&path, SqliteOptions::default()).await;
    for _ in 0..2 {
        let schema = look().await.unwrap();
        assert_eq!((schema.found, schema.known), (1, 2));
        assert_eq!(schema.pending.len(), 1);
        assert!(schema.pending[0].contains("alter table cells"));
    }
    let _disk = opened(folder).await;
    let schema = look().await.unwrap();
    assert_eq!((schema.found, schema.pending), (2, vec![]));
}

#[tokio::test]
async fn every_verb_reads_what_the_first_version_wrote() {
    let (folder, old) = old_file().await;
    let disk = opened(folder).await;
    let store = disk.memories();
    let [plain, merged, hidden, shared] = &old.cells;
    let ana = scope(&old, old.ana, "p");
    let bob = scope(&old, old.bob, "p");
    let owner = ana.owner();
    let all: Vec<CellId> = old.cells.iter().map(|old| old.cell.id).collect();

    let cells = store.cells(&ana, &all).await.unwrap();
    let want: Vec<Cell> = old.cells.iter().map(|old| old.cell.clone()).collect();
    assert_eq!(cells, want);
    assert_eq!(store.cells(&bob, &all).await.unwrap().len(), 3);

    let changes = store
        .changes(&ana, Sequence(0), 100, &model())
        .await
        .unwrap();
    let found: Vec<_> = changes
        .into_iter()
        .map(|change| (change.sequence.0, change.entry))
        .collect();
    let want = [
        (1, Some(plain.entry(true))),
        (3, Some(hidden.entry(true))),
        (4, Some(shared.entry(false))),
        (6, Some(merged.entry(true))),
    ];
    assert_eq!(found, want);

    let history = store.history(&bob, merged.cell.id).await.unwrap();
    let past = |revision, text, updated_at, replaced_by, replaced_at| Past {
        cell: Cell {
            content: Content::new(text).unwrap(),
            revision,
            updated_at,
            ..merged.cell.clone()
        },
        replaced_by,
        replaced_at,
        reason: None,
    };
    let want = [
        past(
            1,
            "the first text",
            merged.cell.created_at,
            old.bob,
            time(50),
        ),
        past(2, "the second text", time(50), old.ana, time(60)),
    ];
    assert_eq!(history, want);
    assert_eq!(store.history(&ana, plain.cell.id).await.unwrap(), []);

    let mut want: Vec<Diff> = old.cells.iter().flat_map(Old::told).collect();
    want.sort_by_key(|diff| diff.sequence);
    let diffs = store.diffs(&ana, Sequence(0), &[], true, 100).await;
    assert_eq!(diffs.unwrap(), want);
    want.retain(|diff| diff.cell != hidden.cell.id && diff.author != old.bob);
    let diffs = store.diffs(&bob, Sequence(0), &[], false, 100).await;
    assert_eq!(diffs.unwrap(), want);
    assert_eq!(store.newest(owner).await.unwrap(), Sequence(6));

    let link = |to: &Old, weight| Link {
        to: to.cell.id,
        weight,
    };
    let links = store.links(&ana, &all[..2], &|_| false).await.unwrap();
    let want = [
        (plain.cell.id, vec![link(merged, 0.3)]),
        (merged.cell.id, vec![link(plain, 0.3), link(shared, 0.123)]),
    ];
    assert_eq!(links, want);

    let last = store.last_of_session(&ana, old.session.id).await.unwrap();
    assert_eq!(last.as_ref(), Some(&plain.cell));
    let statistics = Statistics {
        cells: 4,
        sessions: 1,
        projects: 2,
        stale_vectors: 0,
        conflicts: 0,
    };
    assert_eq!(store.statistics(owner).await.unwrap(), statistics);
    assert_eq!(store.chosen_model(owner).await.unwrap(), Some(model()));

    let digits = plain.cell.id.uuid().as_simple().to_string();
    let found = store.ids_beginning(&ana, Wanted::Cell, &digits, 9).await;
    assert_eq!(found.unwrap(), [plain.cell.id.uuid()]);
    let found = store.names(&ana, Wanted::Project, "", 9).await;
    assert_eq!(found.unwrap(), ["p", "q"]);
    for wanted in [Wanted::Tag, Wanted::Topic] {
        assert_eq!(store.names(&ana, wanted, "", 9).await.unwrap(), [""; 0]);
    }
    let topic = hyphae_testkit::contract::fixture::topic("any");
    let found = store.cell_of_topic(&ana, &topic, Visibility::Project);
    assert_eq!(found.await.unwrap(), None);
    assert_eq!(store.cell_of_key(&ana, &[0; 32]).await.unwrap(), None);
    assert_eq!(store.relations(&ana, &all, true).await.unwrap(), []);
    assert_eq!(store.confirmations(&ana, &all).await.unwrap(), []);
    let open = store.open_conflicts(&ana, &[], None, 9).await;
    assert_eq!(open.unwrap(), []);
    let filter = AuditFilter {
        limit: 9,
        ..AuditFilter::default()
    };
    assert_eq!(store.audit(owner, &filter).await.unwrap(), []);

    let found = disk.store.credential_of_key(&old.key).await.unwrap();
    let want = Credential {
        id: old.ana,
        tenant: old.tenant,
        name: "somebody".to_owned(),
        created_at: Timestamp::UNIX_EPOCH,
        revoked_at: None,
    };
    assert_eq!(found, Some(want));
    let session = disk.sessions().session(owner, old.session.id).await;
    assert_eq!(session.unwrap(), old.session);
    agree_after(&disk.path(), 6).await;
}

#[tokio::test]
async fn every_verb_writes_to_what_the_first_version_wrote() {
    let (folder, old) = old_file().await;
    let disk = opened(folder).await;
    let world = World::new(&disk).await;
    let store = disk.memories();
    let [plain, merged, hidden, shared] = &old.cells;
    let ana = scope(&old, old.ana, "p");

    let mut same = world.cell(&ana, merged.cell.content.as_str());
    same.cell.layer = merged.cell.layer;
    let done = world.commit(&ana, vec![insert(&same)]).await;
    assert_eq!(done, Committed::Same(merged.cell.id));

    // A change that keeps the text keeps the words.
    let retract = |cell: &mut Cell| cell.status = Status::Retracted;
    let retracted = world.change(&ana, &plain.cell, retract).await;
    let found = store.changes(&ana, Sequence(6), 9, &model()).await.unwrap();
    let want = Entry {
        status: Status::Retracted,
        revision: 2,
        updated_at: retracted.updated_at,
        ..plain.entry(true)
    };
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].entry, Some(want));

    let another = |cell: &mut Cell| cell.content = Content::new("the fourth text").unwrap();
    world.change(&ana, &merged.cell, another).await;
    assert_eq!(store.history(&ana, merged.cell.id).await.unwrap().len(), 3);
    world.done(&ana, vec![world.erase(&shared.cell)]).await;
    let links = world.links(&ana, merged.cell.id).await;
    assert_eq!(links.len(), 1, "the link to what was erased is gone");

    let revision = world.revise(&hidden.cell, |cell| {
        cell.visibility = Visibility::Project;
    });
    world.done(&ana, vec![revise(revision)]).await;
    let owner = ana.owner();
    store.choose_model(owner, &other_model()).await.unwrap();
    let stale = store.stale_vectors(owner, 9).await.unwrap();
    assert_eq!(stale.len(), 3);
    let vectors: Vec<_> = stale
        .iter()
        .map(|stale| (stale.id, stale.revision, vector("anew")))
        .collect();
    let model = other_model();
    let replaced = store.replace_vectors(owner, &model, &vectors);
    replaced.await.unwrap();
    assert_eq!(store.stale_vectors(owner, 9).await.unwrap(), []);
    agree_after(&disk.path(), 6).await;
}

#[tokio::test]
async fn vectors_of_untouched_cells_are_replaced_and_their_facts_stay() {
    let (folder, old) = old_file().await;
    let disk = opened(folder).await;
    let store = disk.memories();
    let [plain, ..] = &old.cells;
    let ana = scope(&old, old.ana, "p");
    let vectors = [(plain.cell.id, 1, vector("anew"))];
    let model = model();
    let replaced = store.replace_vectors(ana.owner(), &model, &vectors);
    replaced.await.unwrap();
    let found = store.changes(&ana, Sequence(6), 9, &model).await.unwrap();
    let want = Entry {
        vector: Some(vector("anew")),
        ..plain.entry(true)
    };
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].entry, Some(want));
}

#[tokio::test]
async fn an_old_file_with_memories_is_migrated_once_when_several_open_it() {
    let (folder, old) = old_file().await;
    let path = folder.path().join("hyphae.db");
    let tasks: Vec<_> = (0..6)
        .map(|_| {
            let path = path.clone();
            tokio::spawn(async move { Store::open_file(&path, SqliteOptions::default()).await })
        })
        .collect();
    for task in tasks {
        task.await.unwrap().unwrap();
    }
    let disk = opened(folder).await;
    let ana = scope(&old, old.ana, "p");
    let changes = disk
        .memories()
        .changes(&ana, Sequence(0), 9, &model())
        .await;
    assert_eq!(changes.unwrap().len(), 4);
}
