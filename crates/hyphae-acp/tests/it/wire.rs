//! `acp.md` §1: the wire.

use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use crate::rig::{Rig, prompt};

/// Sends lines on a connection that has shaken hands, closes it, and compares what came back.
async fn check(input: impl AsRef<[u8]>, want: &[Value]) {
    let rig = Rig::new();
    let mut wire = rig.connected().await;
    wire.send_bytes(input.as_ref()).await;
    let (got, _) = wire.finish().await;
    assert_eq!(got, want, "to {}", String::from_utf8_lossy(input.as_ref()));
}

fn error(id: impl Into<Value>, code: i32, message: &str) -> Value {
    json!({"jsonrpc":"2.0","id":id.into(),"error":{"code":code,"message":message}})
}

fn parse_error() -> Value {
    error(Value::Null, -32700, "parse error: the line is no JSON")
}

fn pong(id: impl Into<Value>) -> Value {
    json!({"jsonrpc":"2.0","id":id.into(),"result":{"sessions":[]}})
}

fn ping(id: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"session/list","params":{{}}}}"#)
}

#[tokio::test]
async fn crlf_a_byte_order_mark_and_blank_lines_are_tolerated() {
    check(format!("{}\r\n", ping("1")), &[pong(1)]).await;
    check(format!("\u{feff}{}\n", ping("1")), &[pong(1)]).await;
    check(format!("\n\r\n  \n{}\n\n", ping("1")), &[pong(1)]).await;
    check(ping("1"), &[pong(1)]).await;
}

#[tokio::test]
async fn a_line_that_is_no_json_is_a_parse_error_that_repeats_nothing() {
    for line in [
        "{\"secret\":\"hyk_1234\"",
        "hyk_1234",
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"session/list\",}",
        "[1,",
        "{'id':1}",
    ] {
        check(format!("{line}\n"), &[parse_error()]).await;
    }
    check(b"{\"id\":\"\xff\xfe\"}\n", &[parse_error()]).await;
    check(b"\x00\x01\n", &[parse_error()]).await;
    let surrogate = r#"{"jsonrpc":"2.0","id":1,"method":"session/list","params":{"cwd":"\ud800"}}"#;
    check(format!("{surrogate}\n"), &[parse_error()]).await;
    let deep = format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"session/list","params":{}1{}}}"#,
        "{\"a\":".repeat(500),
        "}".repeat(500)
    );
    check(format!("{deep}\n"), &[parse_error()]).await;
}

#[tokio::test]
async fn what_is_no_object_is_an_invalid_request_and_the_connection_lives_on() {
    for line in [
        "[]",
        "3",
        "\"x\"",
        "null",
        "true",
        &format!("[{}]", ping("1")),
    ] {
        let want = error(Value::Null, -32600, "a message is a JSON object");
        check(format!("{line}\n{}\n", ping("2")), &[want, pong(2)]).await;
    }
}

#[tokio::test]
async fn an_object_that_is_no_message_is_an_invalid_request() {
    let no_kind = "a message has a `method`, a `result` or an `error`";
    let version = "`jsonrpc` is \"2.0\"";
    let kind_of_id = "`id` is a string, a number or null";
    for (line, want) in [
        ("{}", error(Value::Null, -32600, no_kind)),
        (r#"{"jsonrpc":"2.0","id":"a"}"#, error("a", -32600, no_kind)),
        (
            r#"{"id":1,"method":"session/list"}"#,
            error(1, -32600, version),
        ),
        (
            r#"{"jsonrpc":"1.0","id":1,"method":"session/list"}"#,
            error(1, -32600, version),
        ),
        (
            r#"{"jsonrpc":"2.0","id":[1],"method":"session/list"}"#,
            error(Value::Null, -32600, kind_of_id),
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":{}}"#,
            error(1, -32600, "`method` is a string"),
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"id":2,"method":"session/list"}"#,
            error(Value::Null, -32600, "a member of the message occurs twice"),
        ),
    ] {
        check(format!("{line}\n"), &[want]).await;
    }
}

#[tokio::test]
async fn ids_are_repeated_exactly() {
    for id in [
        "0",
        "-1",
        "1.0",
        "1e3",
        "12345678901234567890123",
        r#""""#,
        r#""a \" b""#,
        "null",
    ] {
        let rig = Rig::new();
        let mut wire = rig.connected().await;
        wire.send_line(&ping(id)).await;
        wire.receive().await;
        let want = format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{{\"sessions\":[]}}}}\n");
        assert_eq!(wire.transcript.last(), Some(&want));
    }
}

#[tokio::test]
async fn unknown_requests_are_refused_and_unknown_notifications_ignored() {
    for method in [
        "nope",
        "_hyphae/nope",
        "session/set_mode",
        "session/set_model",
        "logout",
        "session/fork",
        "fs/read_text_file",
        "session/cancel",
        "",
    ] {
        let line = json!({"jsonrpc":"2.0","id":1,"method":method,"params":[1,{"x":2}]});
        check(format!("{line}\n"), &[error(1, -32601, "method not found")]).await;
        let line = json!({"jsonrpc":"2.0","method":method,"params":{"x":2}});
        check(format!("{line}\n"), &[]).await;
    }
}

#[tokio::test]
async fn a_notification_is_never_answered_however_broken() {
    for line in [
        r#"{"jsonrpc":"2.0","method":"session/cancel"}"#,
        r#"{"jsonrpc":"2.0","method":"session/cancel","params":7}"#,
        r#"{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":7}}"#,
        r#"{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"none"}}"#,
        r#"{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"\ud800"}}"#,
        r#"{"jsonrpc":"2.0","method":"$/cancel_request","params":{}}"#,
        r#"{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":{}}}"#,
        r#"{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":99}}"#,
        r#"{"jsonrpc":"2.0","method":"session/prompt","params":{"sessionId":"x"}}"#,
        r#"{"method":"session/new"}"#,
        r#"{"jsonrpc":"1.0","method":"initialize","params":null}"#,
    ] {
        check(format!("{line}\n"), &[]).await;
    }
}

#[tokio::test]
async fn stray_responses_are_ignored() {
    for line in [
        r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32601,"message":"what?"}}"#,
        r#"{"jsonrpc":"2.0","id":17,"result":{}}"#,
        r#"{"jsonrpc":"2.0","id":"x","result":null}"#,
        r#"{"id":1,"error":null}"#,
    ] {
        check(format!("{line}\n{}\n", ping("1")), &[pong(1)]).await;
    }
}

#[tokio::test]
async fn a_frame_over_the_limit_is_skipped_and_every_session_lives_on() {
    let mut rig = Rig::new();
    rig.options.frame_limit = 2000;
    let (mut wire, session) = rig.opened().await;
    let text = "x".repeat(3000);
    let want = |id: Value| {
        error(
            id,
            -32600,
            "the message is longer than the limit of 2000 bytes",
        )
    };

    wire.prompt(7, &session, &text).await;
    assert_eq!(wire.receive().await, Some(want(json!(7))));
    wire.send_line(&format!(r#"{{"text":"{text}{text}","id":"far"}}"#))
        .await;
    assert_eq!(wire.receive().await, Some(want(Value::Null)));

    wire.prompt(8, &session, "small").await;
    let (_, answer) = wire.until_answer(8).await;
    assert_eq!(answer["result"]["stopReason"], "end_turn");
}

#[tokio::test]
async fn a_frame_of_many_mebibytes_comes_back_whole() {
    let rig = Rig::new();
    let (mut wire, session) = rig.opened().await;
    let text = "ab\u{1F600}\"\\".repeat(1 << 20);
    let send = prompt(&session, &text);
    let line = json!({"jsonrpc":"2.0","id":1,"method":"session/prompt","params":send});
    wire.send_line(&line.to_string()).await;
    let (updates, answer) = wire.until_answer(1).await;
    assert_eq!(answer["result"]["stopReason"], "end_turn");
    let echoed: String = updates
        .iter()
        .filter(|u| u["params"]["update"]["sessionUpdate"] == "agent_message_chunk")
        .filter_map(|u| u["params"]["update"]["content"]["text"].as_str())
        .collect();
    assert!(echoed == text, "{} of {} bytes", echoed.len(), text.len());
}

#[tokio::test]
async fn what_comes_behind_initialize_waits_for_its_answer() {
    let rig = Rig::new();
    let mut wire = rig.connect();
    let lines = [
        json!({"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1}}),
        json!({"jsonrpc":"2.0","id":2,"method":"session/new","params":{"cwd":rig.cwd(),"mcpServers":[]}}),
        json!({"jsonrpc":"2.0","id":3,"method":"nope"}),
    ];
    let all: String = lines.iter().map(|line| format!("{line}\n")).collect();
    wire.send_bytes(all.as_bytes()).await;
    let first = wire.receive().await.unwrap();
    assert_eq!(
        (&first["id"], &first["result"]["protocolVersion"]),
        (&json!(1), &json!(1))
    );
    let (_, new) = wire.until_answer(2).await;
    assert!(new["result"]["sessionId"].is_string(), "{new}");
}

#[tokio::test]
async fn before_initialize_requests_are_refused_and_notifications_ignored() {
    let rig = Rig::new();
    let mut wire = rig.connect();
    wire.notify("session/cancel", json!({"sessionId":"x"}))
        .await;
    wire.send_line(r#"{"jsonrpc":"2.0","id":null,"error":{}}"#)
        .await;
    for (id, method) in [(1, "session/list"), (2, "nope"), (3, "authenticate")] {
        let got = wire.call(id, method, json!({})).await;
        assert_eq!(
            got,
            error(id, -32600, "`initialize` comes before everything else")
        );
    }
    let refused = wire.call(4, "initialize", json!({})).await;
    assert_eq!(refused["error"]["code"], -32602);
    let refused = wire.call(5, "session/list", json!({})).await;
    assert_eq!(refused["error"]["code"], -32600);
    wire.initialize().await;
    assert_eq!(wire.call(6, "session/list", json!({})).await, pong(6));
}

#[tokio::test]
async fn one_id_used_twice_is_answered_twice() {
    let rig = Rig::new();
    let (mut wire, session) = rig.opened().await;
    let other = wire.new_session().await;
    wire.prompt(1, &session, "wait").await;
    rig.agent.turn_started().await;
    wire.prompt(1, &other, "quick").await;
    let (_, first) = wire.until_answer(1).await;
    assert_eq!(first["result"]["stopReason"], "end_turn");
    wire.cancel(&session).await;
    let (_, second) = wire.until_answer(1).await;
    assert_eq!(second["result"]["stopReason"], "cancelled");
}

#[tokio::test]
async fn every_line_is_written_by_one_call() {
    use std::{
        io,
        pin::Pin,
        sync::{Arc, Mutex},
        task::{Context, Poll},
    };

    #[derive(Clone, Default)]
    struct Writes(Arc<Mutex<Vec<Vec<u8>>>>);
    impl tokio::io::AsyncWrite for Writes {
        fn poll_write(
            self: Pin<&mut Self>,
            _: &mut Context<'_>,
            b: &[u8],
        ) -> Poll<io::Result<usize>> {
            self.0.lock().unwrap().push(b.to_vec());
            Poll::Ready(Ok(b.len()))
        }
        fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
            Poll::Ready(Ok(()))
        }
        fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
            Poll::Ready(Ok(()))
        }
    }

    let rig = Rig::new();
    let writes = Writes::default();
    let new = json!({"jsonrpc":"2.0","id":2,"method":"session/new","params":{"cwd":rig.cwd(),"mcpServers":[]}});
    let input = format!(
        "{}\n{new}\n{}\nnope\n",
        json!({"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1}}),
        ping("3"),
    );
    let token = tokio_util::sync::CancellationToken::new();
    rig.host()
        .serve(input.as_bytes(), writes.clone(), token)
        .await
        .unwrap();
    let writes = writes.0.lock().unwrap();
    assert!(writes.len() >= 4);
    for write in writes.iter() {
        let newlines = write.iter().filter(|byte| **byte == b'\n').count();
        assert_eq!((newlines, write.last()), (1, Some(&b'\n')));
    }
}
