//! `hyphae-server acp-stdio` as an editor starts it, with our own client on its pipes.

use std::{
    fs::File,
    path::PathBuf,
    process::{Command, Stdio},
};

use hyphae_acp::{Client, ClientError, Shown};
use hyphae_core::ids::SessionId;
use tokio::process::Child;

use crate::world::{PATIENCE, World, id_of};

/// A running console with one open session.
#[derive(Debug)]
pub(crate) struct Agent {
    pub(crate) child: Child,
    pub(crate) client: Client,
    pub(crate) session: SessionId,
    pub(crate) cwd: PathBuf,
}

impl Agent {
    /// Starts the console with the key of this world's person.
    pub(crate) async fn start(world: &World) -> Self {
        Self::start_with(world, world.hyphae()).await
    }

    /// Starts the console by a command that lacks only its argument. The log goes to a file.
    pub(crate) async fn start_with(world: &World, command: Command) -> Self {
        let log = File::options()
            .create(true)
            .append(true)
            .open(Self::log(world))
            .unwrap();
        Self::start_logged(world, command, log.into()).await
    }

    /// The same, with the log somewhere else.
    pub(crate) async fn start_logged(world: &World, mut command: Command, log: Stdio) -> Self {
        command
            .arg("acp-stdio")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(log);
        let mut child = tokio::process::Command::from(command)
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        let mut client = Client::new(child.stdout.take().unwrap(), child.stdin.take().unwrap());
        let cwd = world.work();
        let opened = tokio::time::timeout(PATIENCE, async {
            client.initialize("tests", "1").await.unwrap();
            client.new_session(&cwd).await.unwrap()
        });
        let session = opened.await.unwrap();
        Self {
            child,
            client,
            session,
            cwd,
        }
    }

    /// Where the log of this world's consoles goes.
    pub(crate) fn log(world: &World) -> PathBuf {
        world.home().join("log")
    }

    /// Says something and returns the messages of the answer.
    pub(crate) async fn say(&mut self, text: &str) -> Result<Vec<String>, ClientError> {
        let said = async {
            let mut turn = self.client.prompt(self.session, text).await?;
            let mut messages = Vec::new();
            while let Some(shown) = turn.next().await? {
                add(&mut messages, shown);
            }
            Ok(messages.into_iter().map(|(_, text)| text).collect())
        };
        tokio::time::timeout(PATIENCE, said).await.unwrap()
    }

    /// Says something that is answered by one message.
    pub(crate) async fn one(&mut self, text: &str) -> String {
        let mut said = self.say(text).await.unwrap();
        assert_eq!(said.len(), 1, "{text}: {said:?}");
        said.remove(0)
    }

    /// Stores a memory and returns its id.
    pub(crate) async fn store(&mut self, content: &str) -> String {
        id_of(&self.one(&format!("/store -- {content}")).await).to_owned()
    }

    /// Recalls and returns the matches.
    pub(crate) async fn recall(&mut self, query: &str) -> Vec<crate::world::Shown> {
        let said = self.say(&format!("/recall --k 100 -- {query}")).await;
        let said = said.unwrap();
        if said == ["no results"] {
            return Vec::new();
        }
        said.iter()
            .map(|message| {
                crate::world::shown(message).unwrap_or_else(|| panic!("{query}: {message}"))
            })
            .collect()
    }

    /// Closes the console's stdin and expects that it ends well.
    pub(crate) async fn end(self) {
        let Self {
            mut child, client, ..
        } = self;
        drop(client);
        let status = tokio::time::timeout(PATIENCE, child.wait()).await.unwrap();
        assert_eq!(status.unwrap().code(), Some(0));
    }
}

/// Adds a piece of an answer to its message.
pub(crate) fn add(messages: &mut Vec<(Option<String>, String)>, shown: Shown) {
    if let Shown::Text { message, text } = shown {
        match messages.last_mut() {
            Some((last, whole)) if message.is_some() && *last == message => whole.push_str(&text),
            _ => messages.push((message, text)),
        }
    }
}
