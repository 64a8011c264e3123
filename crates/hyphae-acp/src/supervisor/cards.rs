//! Tool cards that the editor sees spinning.

use std::borrow::Cow;

use super::messages::quoted;
use crate::wire::member;

/// The most open cards that are remembered; nobody looks at so many.
const MOST: usize = 4096;

/// The cards that were opened and not closed, in the order they were opened.
#[derive(Debug, Default)]
pub(super) struct Cards(Vec<String>);

impl Cards {
    /// Looks at an update.
    pub(super) fn see(&mut self, update: &str) {
        let (Some(kind), Some(id)) = (text(update, "sessionUpdate"), text(update, "toolCallId"))
        else {
            return;
        };
        let status = text(update, "status");
        let is_final = matches!(status.as_deref(), Some("completed" | "failed"));
        let known = self.0.iter().position(|open| *open == *id);
        match (&*kind, known, is_final) {
            ("tool_call" | "tool_call_update", Some(at), true) => {
                self.0.remove(at);
            }
            // An update of a card that nobody opened opens it, if it says how it stands.
            (kind, None, false)
                if self.0.len() < MOST
                    && (kind == "tool_call" || kind == "tool_call_update" && status.is_some()) =>
            {
                self.0.push(id.into_owned());
            }
            _ => {}
        }
    }

    /// Forgets the open cards and returns the updates that close them.
    pub(super) fn close(&mut self) -> Vec<String> {
        std::mem::take(&mut self.0)
            .iter()
            .map(|id| {
                format!(
                    r#"{{"sessionUpdate":"tool_call_update","toolCallId":{},"status":"failed"}}"#,
                    quoted(id)
                )
            })
            .collect()
    }
}

fn text<'a>(update: &'a str, name: &str) -> Option<Cow<'a, str>> {
    serde_json::from_str(member(update, name)?).ok()
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn what_was_opened_and_not_closed_is_closed_in_order() {
        let mut cards = Cards::default();
        for (kind, id, status) in [
            ("tool_call", "a", ""),
            ("tool_call", "b", "pending"),
            ("tool_call", "c", "completed"),
            ("tool_call_update", "a", "in_progress"),
            ("tool_call_update", "b", "completed"),
            ("tool_call_update", "d", "in_progress"),
            ("tool_call_update", "e", ""),
            ("of_the_future", "f", "pending"),
            ("tool_call", "a\\\"", "pending"),
        ] {
            let status = match status {
                "" => String::new(),
                status => format!(r#","status":"{status}""#),
            };
            cards.see(&format!(
                r#"{{"sessionUpdate":"{kind}","toolCallId":"{id}"{status}}}"#
            ));
        }
        cards.see("7");
        let closed = cards.close();
        let ids: Vec<_> = closed
            .iter()
            .map(|update| text(update, "toolCallId").unwrap().into_owned())
            .collect();
        assert_eq!(ids, ["a", "d", "a\""]);
        assert!(closed.iter().all(|update| update.contains(r#""failed""#)));
        assert!(cards.close().is_empty());
    }
}
