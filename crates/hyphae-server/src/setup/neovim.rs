//! Neovim: a small module of our own, since a person's configuration is a program that only
//! they can change.

use std::fmt::Write as _;

use super::launch::Launch;

/// How the module is put to use.
pub(super) const USE: &str = "\
-- then, where you call CodeCompanion's setup:
--   require(\"codecompanion\").setup({ adapters = { acp = { hyphae = require(\"hyphae\").codecompanion } } })
-- and open a chat with :CodeCompanionChat adapter=hyphae";

/// Returns the module's text.
pub(super) fn module(launch: &Launch) -> String {
    let mut env = String::new();
    for (name, value) in &launch.env {
        // Writing to a string cannot fail.
        let _infallible = write!(env, " {name} = {},", quoted(value));
    }
    format!(
        "\
-- The Hyphae memory console for Neovim. Written by `hyphae-server setup neovim`.
local M = {{}}

M.command = {{ {program}, \"acp-stdio\" }}

-- An adapter for CodeCompanion: the plain ACP agent that ships with it, started as Hyphae.
function M.codecompanion()
  return require(\"codecompanion.adapters\").extend(\"opencode\", {{
    name = \"hyphae\",
    formatted_name = \"Hyphae\",
    commands = {{ default = M.command }},
    env = {{{env} }},
  }})
end

return M
",
        program = quoted(&launch.program),
    )
}

/// Writes a Lua string.
fn quoted(text: &str) -> String {
    let mut lua = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => {
                lua.push('\\');
                lua.push(c);
            }
            '\n' => lua.push_str("\\n"),
            '\r' => lua.push_str("\\r"),
            c => lua.push(c),
        }
    }
    lua.push('"');
    lua
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_with_quotes_stays_one_string() {
        assert_eq!(quoted("a\"b\\c\n"), "\"a\\\"b\\\\c\\n\"");
    }
}
