//! Puts the parts together: store, key, embedder, memory, host.

use std::{fmt, path::Path, sync::Arc};

use anyhow::{Context, bail};
use hyphae_acp::{Host, HostOptions, Projects};
use hyphae_core::{
    console::Console,
    credential::Credential,
    memories::Memories,
    ports::{ChosenModel, Clock, CredentialStore, Embedder, MemoryStore},
    scope::{Owner, Project},
};
use hyphae_embed::BuiltIn;
use hyphae_store::{PostgresOptions, Recognised, Schema, SqliteOptions, Store};

use crate::{
    args,
    clock::SystemClock,
    config::{Config, Database},
    projects::Links,
    secrets::{self, FoundKey},
};

/// A key that opens nothing; what to do about it.
#[derive(Debug)]
pub(crate) struct Refused(String);

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Refused {}

/// A process that knows who it is and where its memory lies.
#[derive(Debug)]
pub(crate) struct Wiring {
    pub(crate) store: Store,
    pub(crate) credential: Credential,
    pub(crate) clock: Arc<SystemClock>,
    pub(crate) memories: Arc<Memories>,
}

impl Wiring {
    /// Opens the database with this process' key. Loads no model and fills no index.
    pub(crate) async fn open(
        config: &Config,
        embedder: Option<args::Embedder>,
    ) -> anyhow::Result<Self> {
        Self::open_with(config, &secrets::find_key(config)?, embedder).await
    }

    /// The same for a start that somebody waits for: if the database recognises the key at first
    /// sight, its connections are opened only when they are needed.
    pub(crate) async fn open_at_first_sight(
        config: &Config,
        embedder: Option<args::Embedder>,
    ) -> anyhow::Result<Self> {
        let found = secrets::find_key(config)?;
        let recognised = match &config.database {
            Database::Embedded(path) => {
                Store::recognise(path, SqliteOptions::default(), &found.key)
            }
            Database::Server(_) => None,
        };
        match recognised {
            Some(Recognised {
                store,
                credential,
                model,
            }) => Ok(Self::of(store, credential, embedder_for(embedder, model)?)),
            None => Self::open_with(config, &found, embedder).await,
        }
    }

    /// The same with a key that was found before. Fails with [`Refused`] if it opens nothing.
    pub(crate) async fn open_with(
        config: &Config,
        found: &FoundKey,
        embedder: Option<args::Embedder>,
    ) -> anyhow::Result<Self> {
        let store = open_store(config).await?;
        let credential = store.credential_of_key(&found.key).await?;
        let Some(credential) = credential else {
            bail!(Refused(format!(
                "{} is not known to this database; make a key with `hyphae-server keys create --name NAME --save`",
                found.place
            )));
        };
        if credential.revoked_at.is_some() {
            bail!(Refused(format!(
                "{} was revoked; make a new one with `hyphae-server keys create --name NAME --save`",
                found.place
            )));
        }
        Self::with(store, credential, embedder).await
    }

    /// Puts the parts together for a credential that was proved.
    pub(crate) async fn with(
        store: Store,
        credential: Credential,
        embedder: Option<args::Embedder>,
    ) -> anyhow::Result<Self> {
        let model = store.chosen_model(credential.owner()).await?;
        Ok(Self::of(store, credential, embedder_for(embedder, model)?))
    }

    fn of(store: Store, credential: Credential, embedder: Arc<dyn Embedder>) -> Self {
        let clock = Arc::new(SystemClock::default());
        let store = store.acting_for(credential.owner());
        let memories = Memories::new(
            Arc::new(store.clone()),
            embedder,
            Arc::clone(&clock) as Arc<dyn Clock>,
        );
        Self {
            store,
            credential,
            clock,
            memories: Arc::new(memories),
        }
    }

    /// Returns whose process this is.
    pub(crate) fn owner(&self) -> Owner {
        self.credential.owner()
    }

    /// Returns a host that serves the memory console.
    pub(crate) fn console_host(&self, projects: ProjectNames, options: HostOptions) -> Host {
        let clock = Arc::clone(&self.clock) as Arc<dyn Clock>;
        let console = Console::new(
            Arc::clone(&self.memories),
            Arc::clone(&clock),
            env!("CARGO_PKG_VERSION"),
        );
        Host::new(
            Arc::new(console),
            Arc::new(self.store.clone()),
            clock,
            self.owner(),
            Arc::new(projects),
            options,
        )
    }
}

/// Opens the database that the configuration names.
pub(crate) async fn open_store(config: &Config) -> anyhow::Result<Store> {
    open_database(&config.database).await
}

/// Opens a database.
pub(crate) async fn open_database(database: &Database) -> anyhow::Result<Store> {
    Ok(match database {
        Database::Embedded(path) => Store::open_file(path, SqliteOptions::default()).await?,
        Database::Server(address) => Store::connect(address, PostgresOptions::default()).await?,
    })
}

/// The same, and makes it first if there is none.
pub(crate) async fn create_database(database: &Database) -> anyhow::Result<Store> {
    Ok(match database {
        Database::Embedded(path) => Store::create_file(path, SqliteOptions::default()).await?,
        Database::Server(address) => {
            Store::create_on_server(address, PostgresOptions::default()).await?
        }
    })
}

/// Looks at a database's tables and changes nothing.
pub(crate) async fn schema_of(database: &Database) -> anyhow::Result<Schema> {
    Ok(match database {
        Database::Embedded(path) => Store::schema_of_file(path, SqliteOptions::default()).await?,
        Database::Server(address) => {
            Store::schema_on_server(address, PostgresOptions::default()).await?
        }
    })
}

/// Returns a built-in model.
pub(crate) fn embedder_of(wanted: args::Embedder) -> Arc<dyn Embedder> {
    Arc::new(match wanted {
        args::Embedder::Minilm => BuiltIn::minilm(),
        args::Embedder::Static => BuiltIn::static_table(),
    })
}

/// Returns the model that is wanted, else the one that the database was made with; MiniLM if it
/// has none yet.
fn embedder_for(
    wanted: Option<args::Embedder>,
    chosen: Option<ChosenModel>,
) -> anyhow::Result<Arc<dyn Embedder>> {
    if let Some(wanted) = wanted {
        return Ok(embedder_of(wanted));
    }
    let Some(chosen) = chosen else {
        return Ok(embedder_of(args::Embedder::Minilm));
    };
    [args::Embedder::Minilm, args::Embedder::Static]
        .into_iter()
        .map(embedder_of)
        .find(|embedder| embedder.model().id == chosen.id)
        .with_context(|| {
            format!(
                "the memories were embedded with `{}`, which this version does not have; run `hyphae-server reembed --embedder minilm`",
                chosen.id
            )
        })
}

/// Knows which project a directory belongs to.
#[derive(Debug)]
pub(crate) enum ProjectNames {
    /// `HYPHAE_PROJECT` names one for the whole process.
    One(Project),
    /// Each directory by its link, or for itself.
    Linked(Links),
}

impl ProjectNames {
    /// Reads what this user linked.
    pub(crate) fn of(config: &Config) -> anyhow::Result<Self> {
        Ok(match &config.project {
            Some(project) => Self::One(project.clone()),
            None => Self::Linked(Links::read(&config.project_links())?),
        })
    }
}

impl Projects for ProjectNames {
    fn project_of(&self, directory: &Path) -> Project {
        match self {
            Self::One(project) => project.clone(),
            Self::Linked(links) => links.project_of(directory),
        }
    }
}
