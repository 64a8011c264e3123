//! Checks of [`SessionStore`](hyphae_core::ports::SessionStore).

use std::path::{Path, PathBuf};

use hyphae_core::{
    agent::{AgentEvent, PromptBlock, StopReason, ToolCard, ToolStatus},
    ids::{MessageId, SessionId, TurnId},
    ports::SessionError,
    scope::Owner,
    session::{PageSize, Session, TranscriptEntry, TranscriptEvent},
};

use super::{Subject, drop_after, fixture::World};

/// A page of any size up to the largest.
fn page(size: u16) -> PageSize {
    PageSize::new(size).unwrap()
}

fn said(world: &World<'_>, text: &str) -> TranscriptEntry {
    TranscriptEntry {
        turn: TurnId::new(world.id()),
        event: TranscriptEvent::Agent(AgentEvent::Message {
            message: MessageId::new(world.id()),
            text: text.to_owned(),
        }),
    }
}

async fn begin(world: &World<'_>, owner: Owner, cwd: &str) -> Session {
    let session = world.session(cwd);
    let done = world.subject.sessions().create_session(owner, &session);
    done.await.unwrap();
    session
}

async fn append(
    world: &World<'_>,
    owner: Owner,
    id: SessionId,
    entries: &[TranscriptEntry],
) -> Result<(), SessionError> {
    let at = world.now();
    let store = world.subject.sessions();
    store.append_transcript(owner, id, entries, None, at).await
}

async fn whole_transcript(
    world: &World<'_>,
    owner: Owner,
    id: SessionId,
) -> Result<Vec<TranscriptEntry>, SessionError> {
    let store = world.subject.sessions();
    store.transcript(owner, id, 0, page(PageSize::MAX)).await
}

async fn listed(
    world: &World<'_>,
    owner: Owner,
    cwd: Option<&str>,
    after: Option<SessionId>,
    size: u16,
) -> Vec<SessionId> {
    let store = world.subject.sessions();
    let found = store.sessions(owner, cwd.map(Path::new), after, page(size));
    found.await.unwrap().iter().map(|found| found.id).collect()
}

pub async fn a_session_comes_back_with_every_field(subject: &dyn Subject) {
    let world = World::new(subject).await;
    let owner = world.owner().await;
    for title in [None, Some("a \"title\" ☂\u{301}")] {
        let mut session = world.session("/work place/ü'");
        session.title = title.map(str::to_owned);
        session.updated_at = world.now();
        let store = subject.sessions();
        store.create_session(owner, &session).await.unwrap();
        assert_eq!(store.session(owner, session.id).await.unwrap(), session);
        let listed = store.sessions(owner, None, None, page(1)).await.unwrap();
        assert_eq!(listed, [session]);
    }
}

pub async fn a_directory_that_is_no_text_comes_back(subject: &dyn Subject) {
    let world = World::new(subject).await;
    let owner = world.owner().await;
    for path in odd_directories() {
        let mut session = world.session("/x");
        session.cwd.clone_from(&path);
        session.project = hyphae_core::scope::Project::of_directory(&path);
        let store = subject.sessions();
        store.create_session(owner, &session).await.unwrap();
        assert_eq!(store.session(owner, session.id).await.unwrap(), session);
        let listed = store.sessions(owner, Some(&path), None, page(9));
        assert_eq!(listed.await.unwrap(), [session]);
    }
}

fn odd_directories() -> Vec<PathBuf> {
    let mut all = vec![PathBuf::from("/line\nbreak"), PathBuf::from("/ ")];
    #[cfg(unix)]
    for bytes in [&b"/a\xff"[..], b"/a\xfe"] {
        let name: &std::ffi::OsStr = std::os::unix::ffi::OsStrExt::from_bytes(bytes);
        all.push(name.into());
    }
    all
}

pub async fn an_id_is_given_to_one_session_only(subject: &dyn Subject) {
    let world = World::new(subject).await;
    let owner = world.owner().await;
    let first = begin(&world, owner, "/a").await;
    let mut second = world.session("/b");
    second.id = first.id;
    let done = subject.sessions().create_session(owner, &second).await;
    assert!(matches!(done, Err(SessionError::Store(_))), "{done:?}");
    let found = subject.sessions().session(owner, first.id).await.unwrap();
    assert_eq!(found, first);
}

pub async fn sessions_are_listed_newest_first_in_pages(subject: &dyn Subject) {
    let world = World::new(subject).await;
    let owner = world.owner().await;
    let mut all = Vec::new();
    for n in 0..9 {
        all.push(begin(&world, owner, &format!("/{}", n % 2)).await.id);
    }
    all.reverse();
    for size in [1, 2, 4, 9, 200] {
        let mut read = Vec::new();
        loop {
            let found = listed(&world, owner, None, read.last().copied(), size).await;
            if found.is_empty() {
                break;
            }
            assert!(found.len() <= usize::from(size));
            read.extend(found);
        }
        assert_eq!(read, all, "pages of {size}");
    }
    let odd: Vec<SessionId> = all.iter().copied().skip(1).step_by(2).collect();
    assert_eq!(listed(&world, owner, Some("/1"), None, 9).await, odd);
    assert_eq!(
        listed(&world, owner, Some("/1"), Some(odd[0]), 2).await,
        odd[1..3]
    );
    assert_eq!(listed(&world, owner, Some("/"), None, 9).await, []);
}

pub async fn a_page_begins_behind_a_session_that_is_gone(subject: &dyn Subject) {
    let world = World::new(subject).await;
    let owner = world.owner().await;
    let mut all = Vec::new();
    for _ in 0..4 {
        all.push(begin(&world, owner, "/a").await.id);
    }
    subject
        .sessions()
        .delete_session(owner, all[2])
        .await
        .unwrap();
    for cwd in [None, Some("/a")] {
        let found = listed(&world, owner, cwd, Some(all[2]), 9).await;
        assert_eq!(found, [all[1], all[0]]);
    }
}

pub async fn a_transcript_keeps_every_kind_of_entry_in_order(subject: &dyn Subject) {
    let world = World::new(subject).await;
    let owner = world.owner().await;
    let session = begin(&world, owner, "/a").await;
    let message = MessageId::new(world.id());
    let text = "nul \0, \u{1b}[31m, \"quoted\" \\ line\nbreak\r\n👩‍👩‍👧‍👦 \u{202e}rtl".to_owned();
    let block = |block| TranscriptEvent::Prompt { message, block };
    let card = |status| {
        TranscriptEvent::Agent(AgentEvent::Tool(ToolCard {
            id: "call 1".to_owned(),
            title: "a tool".to_owned(),
            status,
            text: Some(text.clone()),
        }))
    };
    let events = [
        block(PromptBlock::Text { text: text.clone() }),
        block(PromptBlock::ResourceLink {
            name: String::new(),
            uri: "file:///a".to_owned(),
        }),
        block(PromptBlock::Image {
            mime_type: "image/png".to_owned(),
            data: "AA==".to_owned(),
        }),
        block(PromptBlock::Audio {
            mime_type: "audio/wav".to_owned(),
            data: "A".repeat(100_000),
        }),
        block(PromptBlock::Resource {
            uri: "file:///b".to_owned(),
            contents: text.clone(),
        }),
        TranscriptEvent::Agent(AgentEvent::Message {
            message,
            text: text.clone(),
        }),
        TranscriptEvent::Agent(AgentEvent::Thought {
            message,
            text: text.clone(),
        }),
        card(ToolStatus::Pending),
        card(ToolStatus::Failed),
        TranscriptEvent::Relayed {
            update: r#"{ "sessionUpdate":"odd","n":1e400,"t":"\u0000" }"#.to_owned(),
        },
        TranscriptEvent::AgentSession { name: text.clone() },
        TranscriptEvent::Ended(StopReason::Cancelled),
    ];
    let turn = TurnId::new(world.id());
    let entries = events.map(|event| TranscriptEntry { turn, event });
    append(&world, owner, session.id, &entries[..3])
        .await
        .unwrap();
    append(&world, owner, session.id, &[]).await.unwrap();
    append(&world, owner, session.id, &entries[3..])
        .await
        .unwrap();
    let found = whole_transcript(&world, owner, session.id).await.unwrap();
    assert_eq!(found, entries);
}

pub async fn a_transcript_is_read_in_pages(subject: &dyn Subject) {
    let world = World::new(subject).await;
    let owner = world.owner().await;
    let session = begin(&world, owner, "/a").await;
    let entries: Vec<TranscriptEntry> = (0..25).map(|n| said(&world, &n.to_string())).collect();
    append(&world, owner, session.id, &entries).await.unwrap();
    let store = subject.sessions();
    for (skip, size, want) in [
        (0, 10, &entries[..10]),
        (10, 10, &entries[10..20]),
        (20, 10, &entries[20..]),
        (25, 10, &[]),
        (1000, 10, &[]),
        (u64::MAX, 10, &[]),
    ] {
        let found = store.transcript(owner, session.id, skip, page(size)).await;
        assert_eq!(found.unwrap(), want, "behind {skip}");
    }
}

pub async fn an_append_sets_the_time_and_the_first_title(subject: &dyn Subject) {
    let world = World::new(subject).await;
    let owner = world.owner().await;
    let mut want = begin(&world, owner, "/a").await;
    let store = subject.sessions();
    for (title, kept) in [
        (None, None),
        (Some("first"), Some("first")),
        (Some("second"), Some("first")),
        (None, Some("first")),
    ] {
        want.updated_at = world.now();
        want.title = kept.map(str::to_owned);
        let entry = [said(&world, "text")];
        let done = store.append_transcript(owner, want.id, &entry, title, want.updated_at);
        done.await.unwrap();
        assert_eq!(store.session(owner, want.id).await.unwrap(), want);
    }
}

pub async fn appends_at_once_keep_every_entry_and_each_append_whole(subject: &dyn Subject) {
    let world = World::new(subject).await;
    let owner = world.owner().await;
    let session = begin(&world, owner, "/a").await;
    let other = subject.again().await;
    let blocks: Vec<Vec<TranscriptEntry>> = (0..20)
        .map(|n| (0..4).map(|k| said(&world, &format!("{n} {k}"))).collect())
        .collect();
    let (here, there) = blocks.split_at(10);
    let at = world.now();
    let write = async |subject: &dyn Subject, blocks: &[Vec<TranscriptEntry>]| {
        for block in blocks {
            let done = subject
                .sessions()
                .append_transcript(owner, session.id, block, None, at);
            done.await.unwrap();
        }
    };
    tokio::join!(write(subject, here), write(&*other, there));
    let found = whole_transcript(&world, owner, session.id).await.unwrap();
    assert_eq!(found.len(), 80);
    let mut kept: Vec<&[TranscriptEntry]> = found.chunks(4).collect();
    let position = |block: &[TranscriptEntry]| blocks.iter().position(|other| other == block);
    assert!(kept.iter().all(|block| position(block).is_some()));
    kept.sort_by_key(|block| position(block));
    kept.dedup();
    assert_eq!(kept.len(), 20);
}

pub async fn a_dropped_append_leaves_all_or_nothing(subject: &dyn Subject) {
    let world = World::new(subject).await;
    let owner = world.owner().await;
    let session = begin(&world, owner, "/a").await;
    let last = said(&world, "last");
    for polls in 0..40 {
        let before = whole_transcript(&world, owner, session.id).await.unwrap();
        let entries: Vec<TranscriptEntry> = (0..3).map(|n| said(&world, &format!("{n}"))).collect();
        drop_after(polls, append(&world, owner, session.id, &entries)).await;
        // A write that follows is served, and lies behind all or nothing of what was dropped.
        append(&world, owner, session.id, std::slice::from_ref(&last))
            .await
            .unwrap();
        let mut after = whole_transcript(&world, owner, session.id).await.unwrap();
        assert_eq!(after.pop().as_ref(), Some(&last));
        assert_eq!(after[..before.len()], before, "{polls}");
        let new = &after[before.len()..];
        assert!(
            new.is_empty() || new == entries,
            "{polls}: {} of 3",
            new.len()
        );
        if after.len() > 150 {
            return;
        }
    }
}

pub async fn a_fork_has_the_past_and_its_own_future(subject: &dyn Subject) {
    let world = World::new(subject).await;
    let owner = world.owner().await;
    let session = begin(&world, owner, "/a").await;
    let past = [said(&world, "one"), said(&world, "two")];
    append(&world, owner, session.id, &past).await.unwrap();
    let mut copy = world.session("/b");
    copy.title = Some("copy".to_owned());
    let store = subject.sessions();
    store.fork_session(owner, session.id, &copy).await.unwrap();
    assert_eq!(store.session(owner, copy.id).await.unwrap(), copy);
    assert_eq!(
        whole_transcript(&world, owner, copy.id).await.unwrap(),
        past
    );

    let here = said(&world, "here");
    append(&world, owner, session.id, std::slice::from_ref(&here))
        .await
        .unwrap();
    let there = said(&world, "there");
    append(&world, owner, copy.id, std::slice::from_ref(&there))
        .await
        .unwrap();
    let [one, two] = past;
    let found = whole_transcript(&world, owner, session.id).await.unwrap();
    assert_eq!(found, [one.clone(), two.clone(), here]);
    store.delete_session(owner, session.id).await.unwrap();
    let found = whole_transcript(&world, owner, copy.id).await.unwrap();
    assert_eq!(found, [one, two, there]);
}

pub async fn a_deleted_session_is_gone_with_its_transcript(subject: &dyn Subject) {
    let world = World::new(subject).await;
    let owner = world.owner().await;
    let session = begin(&world, owner, "/a").await;
    append(&world, owner, session.id, &[said(&world, "one")])
        .await
        .unwrap();
    let store = subject.sessions();
    store.delete_session(owner, session.id).await.unwrap();
    store.delete_session(owner, session.id).await.unwrap();
    assert_eq!(listed(&world, owner, None, None, 9).await, []);
    check_not_found(&world, owner, session.id).await;
    store.create_session(owner, &session).await.unwrap();
    assert_eq!(
        whole_transcript(&world, owner, session.id).await.unwrap(),
        []
    );
}

/// Every verb answers as if there were no such session.
async fn check_not_found(world: &World<'_>, owner: Owner, id: SessionId) {
    let store = world.subject.sessions();
    let copy = world.session("/copy");
    let answers = [
        store.session(owner, id).await.map(drop),
        append(world, owner, id, &[said(world, "text")]).await,
        append(world, owner, id, &[]).await,
        whole_transcript(world, owner, id).await.map(drop),
        store.fork_session(owner, id, &copy).await,
    ];
    for answer in answers {
        let Err(SessionError::NotFound { id: named }) = answer else {
            panic!("{answer:?}");
        };
        assert_eq!(named, id);
    }
    assert!(
        store.session(owner, copy.id).await.is_err(),
        "nothing was copied"
    );
}

pub async fn a_foreign_session_and_an_unknown_one_are_the_same(subject: &dyn Subject) {
    let world = World::new(subject).await;
    let (ana, bob, eve) = (
        world.owner().await,
        world.owner().await,
        world.stranger().await,
    );
    let session = begin(&world, ana, "/a").await;
    let entry = said(&world, "secret");
    append(&world, ana, session.id, std::slice::from_ref(&entry))
        .await
        .unwrap();
    let before = subject.sessions().session(ana, session.id).await.unwrap();
    for other in [bob, eve] {
        check_not_found(&world, other, session.id).await;
        check_not_found(&world, other, SessionId::new(world.id())).await;
        subject
            .sessions()
            .delete_session(other, session.id)
            .await
            .unwrap();
        assert_eq!(listed(&world, other, None, None, 9).await, []);
        assert_eq!(listed(&world, other, Some("/a"), None, 9).await, []);
    }
    let after = subject.sessions().session(ana, session.id).await.unwrap();
    assert_eq!(after, before);
    let found = whole_transcript(&world, ana, session.id).await.unwrap();
    assert_eq!(found, [entry]);
}

pub async fn a_second_handle_sees_sessions_at_once(subject: &dyn Subject) {
    let world = World::new(subject).await;
    let owner = world.owner().await;
    let other = subject.again().await;
    let session = begin(&world, owner, "/a").await;
    let found = other.sessions().session(owner, session.id).await.unwrap();
    assert_eq!(found, session);
    subject
        .sessions()
        .delete_session(owner, session.id)
        .await
        .unwrap();
    assert!(other.sessions().session(owner, session.id).await.is_err());
}
