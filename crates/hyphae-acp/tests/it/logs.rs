//! What the log says, and what it must not say.

use std::{
    io,
    sync::{Arc, Mutex, OnceLock},
};

use serde_json::json;
use tracing_subscriber::fmt::MakeWriter;

use crate::rig::{Rig, prompt};

const SECRET: &str = "hyk_s3cret";

#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl Log {
    fn text(&self) -> String {
        String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
    }
}

impl io::Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl<'a> MakeWriter<'a> for Log {
    type Writer = Self;
    fn make_writer(&'a self) -> Self {
        self.clone()
    }
}

/// Collects everything that this process logs from now on, down to trace. One log for all: a
/// subscriber for one thread only would miss what another thread has found to be of no interest.
fn collect() -> Log {
    static LOG: OnceLock<Log> = OnceLock::new();
    let start = || {
        let log = Log::default();
        let subscriber = tracing_subscriber::fmt()
            .with_writer(log.clone())
            .with_max_level(tracing::Level::TRACE)
            .with_ansi(false)
            .finish();
        tracing::subscriber::set_global_default(subscriber).unwrap();
        log
    };
    LOG.get_or_init(start).clone()
}

#[tokio::test(start_paused = true)]
async fn names_are_logged_and_secrets_are_not() {
    let log = collect();
    let rig = Rig::new();
    let (mut wire, session) = rig.opened().await;
    let servers = json!([
        {"name": "files", "command": SECRET, "args": [SECRET], "env": [{"name": "K", "value": SECRET}]},
        {"type": "http", "name": "web", "url": SECRET, "headers": [{"name": "A", "value": SECRET}]},
    ]);
    wire.call(
        1,
        "session/new",
        json!({"cwd": rig.cwd(), "mcpServers": servers}),
    )
    .await;
    wire.call(2, "authenticate", json!({"methodId": SECRET}))
        .await;
    wire.call(3, SECRET, json!({"x": SECRET})).await;
    wire.call(
        4,
        "session/prompt",
        json!({"sessionId": session, "prompt": SECRET}),
    )
    .await;
    wire.call(5, "session/close", json!({"sessionId": SECRET}))
        .await;
    wire.send_line(&format!("{{{SECRET}")).await;
    wire.notify(SECRET, json!({"x": SECRET})).await;
    wire.prompt(6, &session, &format!("{SECRET}\nerror no luck"))
        .await;
    wire.until_answer(6).await;
    let log = log.text();
    assert!(log.contains("files") && log.contains("web"), "{log}");
    assert!(log.contains("no luck"), "{log}");
    assert!(!log.contains(SECRET), "{log}");
}

#[tokio::test(start_paused = true)]
async fn trace_context_reaches_the_log_if_it_is_one() {
    let log = collect();
    let rig = Rig::new();
    let (mut wire, session) = rig.opened().await;
    let good = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    for (id, traceparent) in [
        (json!(1), json!(good)),
        (json!(2), json!("00-hyk_s3cret")),
        (json!(3), json!(7)),
        (json!(4), json!(good.replace("0af7", "hyk_"))),
    ] {
        let mut params = prompt(&session, "error no luck");
        params["_meta"] = json!({"traceparent": traceparent, "baggage": SECRET});
        wire.request(id.clone(), "session/prompt", params).await;
        wire.until_answer(id).await;
    }
    let log = log.text();
    let traced = log
        .lines()
        .filter(|line| line.contains(good) && line.contains("no luck"));
    assert_eq!(traced.count(), 1, "{log}");
    assert!(!log.contains("hyk_"), "{log}");
}
