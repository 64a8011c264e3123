//! `acp.md` §1 bad parameters, §4 prompt blocks: refused by name, repeated never.

use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use crate::rig::Rig;

/// Whatever is in here must never come back.
const SECRET: &str = "hyk_s3cret";

/// `$CWD` and `$SESSION` in the parameters stand for a real directory and an open session.
async fn check(method: &str, params: Value, field: &str, expected: &str) {
    let rig = Rig::new();
    let (mut wire, session) = rig.opened().await;
    let params = params
        .to_string()
        .replace("$CWD", rig.cwd())
        .replace("$SESSION", &session);
    wire.request(1, method, serde_json::from_str(&params).unwrap())
        .await;
    let (before, got) = wire.until_answer(1).await;
    assert_eq!(
        got["error"],
        json!({
            "code": -32602,
            "message": format!("invalid params: `{field}`: {expected}"),
            "data": {"field": field},
        }),
        "{method} {params}"
    );
    assert_eq!(
        before,
        Vec::<Value>::new(),
        "a refused request shows nothing"
    );
    assert!(!wire.transcript.concat().contains(SECRET));
    assert_eq!(rig.agent.log(), Vec::<String>::new());
}

#[tokio::test]
async fn session_new_wants_a_directory_that_exists() {
    let text = "expected a string";
    let absolute = "expected an absolute path";
    let exists = "expected an existing directory";
    for (cwd, want) in [
        (json!(null), text),
        (json!(7), text),
        (json!([SECRET]), text),
        (json!(""), absolute),
        (json!("."), absolute),
        (json!("relative/hyk_s3cret"), absolute),
        (json!("/nul\u{0}byte"), absolute),
        (json!("/does/not/exist/hyk_s3cret"), exists),
        (json!("/dev/null"), exists),
    ] {
        let params = json!({"cwd": cwd, "mcpServers": []});
        check("session/new", params, "cwd", want).await;
    }
    check("session/new", json!({"mcpServers": []}), "cwd", text).await;
}

#[tokio::test]
async fn mcp_servers_are_checked_in_shape_only() {
    for (servers, field, want) in [
        (json!(SECRET), "mcpServers", "expected an array"),
        (json!({"a": SECRET}), "mcpServers", "expected an array"),
        (json!([SECRET]), "mcpServers[0].name", "expected a string"),
        (
            json!([{"name": "ok"}, {"name": 7}]),
            "mcpServers[1].name",
            "expected a string",
        ),
    ] {
        let params = json!({"cwd": "$CWD", "mcpServers": servers});
        check("session/new", params, field, want).await;
    }
}

#[tokio::test]
async fn what_is_not_supported_fails_instead_of_being_ignored() {
    check(
        "session/new",
        json!({"cwd": "$CWD", "mcpServers": [], "systemPrompt": {"mode": "append", "content": []}}),
        "systemPrompt",
        "not supported by this agent",
    )
    .await;
    for directories in [json!(7), json!(["relative"]), json!([7])] {
        check(
            "session/new",
            json!({"cwd": "$CWD", "mcpServers": [], "additionalDirectories": directories}),
            "additionalDirectories",
            "expected an array of absolute paths",
        )
        .await;
    }
}

#[tokio::test]
async fn session_ids_are_strings() {
    for method in [
        "session/prompt",
        "session/load",
        "session/resume",
        "session/close",
        "session/delete",
    ] {
        for id in [json!(null), json!(7), json!([SECRET]), json!({})] {
            let params = json!({
                "sessionId": id, "cwd": "$CWD", "mcpServers": [],
                "prompt": [{"type": "text", "text": "x"}],
            });
            check(method, params, "sessionId", "expected a string").await;
        }
    }
}

#[tokio::test]
async fn parameters_are_an_object() {
    let rig = Rig::new();
    let mut wire = rig.connected().await;
    for params in [json!([1]), json!("x"), json!(7), json!(true)] {
        let got = wire.call(1, "session/new", params).await;
        assert_eq!(
            got["error"],
            json!({"code": -32602, "message": "invalid params: expected an object"})
        );
    }
}

#[tokio::test]
async fn lists_want_a_cursor_of_ours_and_an_absolute_path() {
    let cursor = "expected a `nextCursor` of this agent";
    for (params, field, want) in [
        (json!({"cursor": "nonsense hyk_s3cret"}), "cursor", cursor),
        (json!({"cursor": ""}), "cursor", cursor),
        (json!({"cursor": 7}), "cursor", "expected a string or null"),
        (
            json!({"cwd": "relative"}),
            "cwd",
            "expected an absolute path",
        ),
        (json!({"cwd": 7}), "cwd", "expected a string or null"),
    ] {
        check("session/list", params, field, want).await;
    }
}

#[tokio::test]
async fn prompts_are_blocks_that_the_agent_takes() {
    let blocks = "expected an array of content blocks";
    let blank = "expected at least one block that is not blank";
    let kinds = "expected text, image, audio, resource_link or resource";
    let text = "expected a string";
    for (prompt, field, want) in [
        (json!(null), "prompt", blocks),
        (json!(SECRET), "prompt", blocks),
        (json!({"type": "text", "text": SECRET}), "prompt", blocks),
        (json!([]), "prompt", blank),
        (
            json!([{"type": "text", "text": " \n\t\u{a0}"}]),
            "prompt",
            blank,
        ),
        (
            json!([{"type": "text", "text": ""}, {"type": "text", "text": ""}]),
            "prompt",
            blank,
        ),
        (json!([SECRET]), "prompt[0].type", kinds),
        (json!([{"type": SECRET}]), "prompt[0].type", kinds),
        (json!([{"text": SECRET}]), "prompt[0].type", kinds),
        (
            json!([{"type": "text", "text": "a"}, {"type": "text"}]),
            "prompt[1].text",
            text,
        ),
        (
            json!([{"type": "text", "text": [SECRET]}]),
            "prompt[0].text",
            text,
        ),
        (
            json!([{"type": "resource_link", "uri": "file:///a"}]),
            "prompt[0].name",
            text,
        ),
        (
            json!([{"type": "resource_link", "name": "a"}]),
            "prompt[0].uri",
            text,
        ),
        (
            json!([{"type": "text", "text": "a"}, {"type": "image", "data": SECRET, "mimeType": "image/png"}]),
            "prompt[1]",
            "image content is not accepted by this agent",
        ),
        (
            json!([{"type": "audio", "data": SECRET, "mimeType": "audio/wav"}]),
            "prompt[0]",
            "audio content is not accepted by this agent",
        ),
        (
            json!([{"type": "resource", "resource": {"uri": "file:///a", "text": SECRET}}]),
            "prompt[0]",
            "embedded resource content is not accepted by this agent; link to it",
        ),
        (
            json!([{"type": "text", "text": "refuse"}]),
            "prompt",
            "this agent does not take such prompts",
        ),
    ] {
        let params = json!({"sessionId": "$SESSION", "prompt": prompt});
        check("session/prompt", params, field, want).await;
    }
}

#[tokio::test]
async fn what_the_agent_accepts_reaches_it() {
    let rig = Rig::accepting_everything();
    let (mut wire, session) = rig.opened().await;
    let prompt = json!([
        {"type": "text", "text": "look", "annotations": 7, "_meta": []},
        {"type": "resource_link", "name": "link", "uri": "file:///l", "size": "malformed"},
        {"type": "image", "data": "aGk=", "mimeType": "image/png"},
        {"type": "audio", "data": "aGk=", "mimeType": "audio/wav"},
        {"type": "resource", "resource": {"uri": "file:///t", "text": "words"}},
        {"type": "resource", "resource": {"uri": "file:///b", "blob": "aGk="}},
    ]);
    let params = json!({"sessionId": session, "prompt": prompt, "_meta": {"traceparent": 7}});
    let answer = wire.call(1, "session/prompt", params).await;
    assert_eq!(answer["result"]["stopReason"], "end_turn");
    assert_eq!(
        rig.agent.log()[0],
        "start look\nlink\nimage\naudio\nfile:///t\nfile:///b"
    );
}
