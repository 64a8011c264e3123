//! `doctor`: checks everything a person needs, and says what to do about each fault.

use std::{path::Path, time::Instant};

use anyhow::{Context, ensure};
use hyphae_acp::{Client, HostOptions, Shown};
use hyphae_core::{
    ids::SessionId,
    ports::{CredentialStore, MemoryStore},
};
use hyphae_embed::CpuPath;
use hyphae_store::{SqliteOptions, Store};

use super::{Outcome, console::converse, init::new_credential};
use crate::{
    config::Config,
    output::{Colour, Printer},
    secrets, wiring,
    wiring::{ProjectNames, Wiring},
};

pub(crate) async fn run(config: &Config) -> anyhow::Result<Outcome> {
    let mut report = Report {
        out: Printer::take()?,
        failed: false,
    };
    report.good(
        "version",
        &format!("hyphae-server {}", env!("CARGO_PKG_VERSION")),
    )?;

    let found = secrets::find_key(config);
    report.check("key", found.as_ref().map(|found| found.place.clone()))?;
    let store = wiring::open_store(config).await;
    report.check(
        "database",
        store.as_ref().map(|_| config.database.to_string()),
    )?;
    if let (Ok(found), Ok(store)) = (&found, &store) {
        report.check("identity", identity(store, &found.key).await)?;
    }
    if let Ok(store) = store {
        store.close().await;
    }
    report.check("project", project(config))?;

    match Wiring::open(config, None).await {
        Ok(wiring) => {
            report.check("memories", memories(&wiring).await)?;
            report.check("model", model(&wiring).await)?;
            let projects = ProjectNames::of(config);
            report.check(
                "your sessions",
                match projects {
                    Ok(projects) => listen_in(&wiring, projects).await,
                    Err(error) => Err(error),
                },
            )?;
            wiring.store.close().await;
        }
        Err(error) => report.bad("memory", &error)?,
    }
    report.check("a full conversation", scratch_conversation().await)?;
    Ok(if report.failed {
        Outcome::Failed
    } else {
        Outcome::Done
    })
}

struct Report {
    out: Printer,
    failed: bool,
}

impl Report {
    fn check<E: std::fmt::Display>(
        &mut self,
        what: &str,
        result: Result<String, E>,
    ) -> anyhow::Result<()> {
        match result {
            Ok(detail) => self.good(what, &detail),
            Err(error) => self.bad(what, &error),
        }
    }

    fn good(&mut self, what: &str, detail: &str) -> anyhow::Result<()> {
        let mark = self.out.paint(Colour::Green, "ok  ");
        Ok(self.out.line(format!("{mark} {what}: {detail}"))?)
    }

    fn bad(&mut self, what: &str, error: &impl std::fmt::Display) -> anyhow::Result<()> {
        self.failed = true;
        let mark = self.out.paint(Colour::Red, "FAIL");
        Ok(self.out.line(format!("{mark} {what}: {error:#}"))?)
    }
}

async fn identity(store: &Store, key: &hyphae_core::credential::ApiKey) -> anyhow::Result<String> {
    let credential = store.credential_of_key(key).await?.context(
        "this key is not known to the database; run `hyphae-server keys create --name NAME --save`",
    )?;
    ensure!(
        credential.revoked_at.is_none(),
        "this key was revoked; run `hyphae-server keys create --name NAME --save`"
    );
    Ok(format!("{} ({})", credential.name, credential.id))
}

fn project(config: &Config) -> anyhow::Result<String> {
    let here = std::env::current_dir()?.canonicalize()?;
    let names = ProjectNames::of(config)?;
    Ok(hyphae_acp::Projects::project_of(&names, &here).to_string())
}

async fn memories(wiring: &Wiring) -> anyhow::Result<String> {
    let statistics = wiring.store.statistics(wiring.owner()).await?;
    ensure!(
        statistics.stale_vectors == 0,
        "{} memories have vectors of another model and are found by words only; run `hyphae-server reembed --embedder minilm`",
        statistics.stale_vectors
    );
    Ok(format!(
        "{} in {} projects, {} sessions",
        statistics.cells, statistics.projects, statistics.sessions
    ))
}

/// Lets the model speak about texts whose likeness is known.
async fn model(wiring: &Wiring) -> anyhow::Result<String> {
    let embedder = wiring.memories.embedder();
    let begun = Instant::now();
    let texts = [
        "a cat sits on the mat",
        "a kitten is on the rug",
        "interest rates rose again",
    ];
    let vectors = embedder.embed(texts.map(str::to_owned).to_vec()).await?;
    let cosine = |a: usize, b: usize| -> f32 {
        vectors[a].iter().zip(&vectors[b]).map(|(x, y)| x * y).sum()
    };
    ensure!(
        vectors.len() == texts.len() && cosine(0, 1) > cosine(0, 2),
        "the embedding model answers nonsense; reinstall hyphae-server"
    );
    Ok(format!(
        "{} on {:?}, {} texts in {} ms",
        embedder.model().id,
        CpuPath::fastest(),
        texts.len(),
        begun.elapsed().as_millis()
    ))
}

/// Opens a session in the real database, recalls, and erases the session again.
async fn listen_in(wiring: &Wiring, projects: ProjectNames) -> anyhow::Result<String> {
    let here = std::env::current_dir()?;
    let host = wiring.console_host(projects, HostOptions::default());
    converse(&host, async |mut client| {
        client
            .initialize("hyphae-server doctor", env!("CARGO_PKG_VERSION"))
            .await?;
        let session = client.new_session(&here).await?;
        let recalled = say(
            &mut client,
            session,
            "/recall --k 1 what is remembered here",
        )
        .await;
        client.delete_session(session).await?;
        recalled?;
        let all = client.list_sessions(None).await?;
        Ok(format!(
            "a session opens, recalls and is erased; {} are kept",
            all.len()
        ))
    })
    .await
}

/// Stores and recalls through the whole server, over a database that is thrown away.
async fn scratch_conversation() -> anyhow::Result<String> {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("scratch.db");
    let store = Store::create_file(&path, SqliteOptions::default()).await?;
    let (credential, _) = new_credential(&store, "doctor").await?;
    let wiring = Wiring::with(store, credential, None).await?;
    let host = wiring.console_host(
        ProjectNames::Linked(crate::projects::Links::default()),
        HostOptions::default(),
    );
    let said = converse(&host, async |mut client| {
        conversation(&mut client, folder.path()).await
    });
    let said = said.await;
    wiring.store.close().await;
    said
}

async fn conversation(client: &mut Client, cwd: &Path) -> anyhow::Result<String> {
    let info = client
        .initialize("hyphae-server doctor", env!("CARGO_PKG_VERSION"))
        .await?;
    let session = client.new_session(cwd).await?;
    let stored = say(
        client,
        session,
        "/store --type Decision We ship Postgres for V1",
    )
    .await?;
    ensure!(stored.starts_with("stored "), "storing answered {stored:?}");
    let found = say(client, session, "which database did we pick").await?;
    ensure!(
        found.ends_with("We ship Postgres for V1"),
        "recalling answered {found:?}"
    );
    client.close_session(session).await?;
    client.load_session(session, cwd, |_| {}).await?;
    client.delete_session(session).await?;
    Ok(format!(
        "protocol {}, stored, recalled, loaded and erased",
        info.protocol_version
    ))
}

async fn say(client: &mut Client, session: SessionId, text: &str) -> anyhow::Result<String> {
    let mut answer = String::new();
    let mut turn = client.prompt(session, text).await?;
    while let Some(shown) = turn.next().await? {
        if let Shown::Text { text, .. } = shown {
            answer.push_str(&text);
        }
    }
    Ok(answer)
}
