//! From text to sentences of words and marks.

/// A word, or a mark between words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Item {
    /// As it stands in the text, without the marks around it.
    pub(super) text: String,
    /// In lower case, without `'s`.
    pub(super) lower: String,
    pub(super) shape: Shape,
}

/// What an item looks like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    /// A word in lower case.
    Plain,
    /// A word with a capital letter, not the first one of its sentence.
    Capital,
    /// The first word of its sentence, with a capital letter.
    First,
    /// In backticks, or one or two words in quotation marks.
    Quoted,
    /// More words in quotation marks: what somebody else says.
    Speech,
    /// Where a secret was.
    Masked,
    /// `,`, `:`, `(`, `)`, `-` for a dash, `=` for equality.
    Mark,
}

impl Item {
    pub(super) fn word(text: &str, shape: Shape) -> Self {
        let bare = ["'s", "’s", "'", "’"]
            .iter()
            .find_map(|end| text.strip_suffix(end))
            .filter(|bare| !bare.is_empty())
            .unwrap_or(text);
        Self {
            text: text.to_owned(),
            lower: bare.to_lowercase(),
            shape,
        }
    }

    fn mark(mark: char) -> Self {
        Self {
            text: mark.to_string(),
            lower: mark.to_string(),
            shape: Shape::Mark,
        }
    }

    pub(super) fn is_mark(&self, mark: &str) -> bool {
        self.shape == Shape::Mark && self.lower == mark
    }
}

/// The words of one sentence.
#[derive(Debug, Clone, Default)]
pub(super) struct Sentence {
    pub(super) items: Vec<Item>,
    pub(super) question: bool,
}

/// The most words that are looked at in one sentence; a longer one is no sentence.
pub(super) const LONGEST_SENTENCE: usize = 64;

/// The most sentences that are looked at in one text.
pub(super) const MOST_SENTENCES: usize = 96;

/// Splits a text into sentences. Those with more words than [`LONGEST_SENTENCE`] are left out,
/// and so is all that follows the first [`MOST_SENTENCES`].
pub(super) fn sentences(text: &str) -> Vec<Sentence> {
    let mut reader = Reader::default();
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        if reader.done.len() >= MOST_SENTENCES {
            break;
        }
        rest = reader.read(rest, c);
    }
    reader.end_sentence(false);
    reader.done
}

#[derive(Debug, Default)]
struct Reader {
    done: Vec<Sentence>,
    items: Vec<Item>,
}

impl Reader {
    /// Reads one item; returns what follows it.
    fn read<'t>(&mut self, rest: &'t str, c: char) -> &'t str {
        let after = &rest[c.len_utf8()..];
        match c {
            '\n' | ';' | '。' | '！' => self.end_sentence(false),
            '？' | '?' => self.end_sentence(true),
            '!' => self.end_sentence(false),
            '`' => {
                if let Some((inside, after)) = within(after, "`", 80) {
                    self.items.push(Item::word(inside, Shape::Quoted));
                    return after;
                }
            }
            '"' | '“' | '„' | '«' => {
                let close = match c {
                    '“' => "”",
                    '„' => "“",
                    '«' => "»",
                    _ => "\"",
                };
                if let Some((inside, after)) = within(after, close, 400) {
                    let few = inside.split_whitespace().count() <= 2;
                    let shape = if few { Shape::Quoted } else { Shape::Speech };
                    let text = inside.trim_end_matches(['.', ',', '?', '!']);
                    self.items.push(Item::word(text, shape));
                    return after;
                }
            }
            '[' => {
                if rest.starts_with("[masked")
                    && let Some((inside, after)) = within(after, "]", 60)
                {
                    self.items.push(Item::word(inside, Shape::Masked));
                    return after;
                }
            }
            ',' | '(' | ')' | '=' | ':' => self.items.push(Item::mark(c)),
            '、' | '，' => self.items.push(Item::mark(',')),
            '：' => self.items.push(Item::mark(':')),
            '—' | '–' => self.items.push(Item::mark('-')),
            '&' => self.items.push(Item::word("and", Shape::Plain)),
            '<' | '>' | '≤' | '≥' => {
                let signs = rest.len() - rest.trim_start_matches(['<', '>', '=', '≤', '≥']).len();
                let (sign, after) = rest.split_at(signs);
                self.items.push(Item::word(sign, Shape::Plain));
                return after;
            }
            _ if starts_word(c) => return self.word(rest),
            _ => {}
        }
        after
    }

    /// Reads a word, and ends the sentence if the word does.
    fn word<'t>(&mut self, rest: &'t str) -> &'t str {
        let mut end = 0;
        for (at, c) in rest.char_indices() {
            let next = rest[at + c.len_utf8()..].chars().next();
            let joined =
                next.is_some_and(|next| !next.is_whitespace() && !"\"”)`,;".contains(next));
            let inside = match c {
                _ if c.is_whitespace() => false,
                ',' => {
                    // `1,000`
                    let digit = |c: Option<char>| c.is_some_and(|c| c.is_ascii_digit());
                    digit(rest[..at].chars().next_back()) && {
                        let group: Vec<char> = rest[at + 1..].chars().take(4).collect();
                        group.len() >= 3
                            && group[..3].iter().all(char::is_ascii_digit)
                            && !group.get(3).is_some_and(char::is_ascii_digit)
                    }
                }
                ';' | '!' | '"' | '“' | '”' | '(' | ')' | '[' | ']' | '{' | '}' | '`' | '—'
                | '–' | '<' | '>' | '≤' | '≥' | '…' | '。' | '，' | '、' | '：' | '！' | '？' => {
                    false
                }
                '?' | ':' | '.' | '=' => joined && (c != '=' || rest[..at].contains("://")),
                _ => true,
            };
            if !inside {
                break;
            }
            end = at + c.len_utf8();
        }
        let (word, after) = rest.split_at(end.max(rest.chars().next().map_or(0, char::len_utf8)));
        let text = word.trim_matches(|c| matches!(c, '\'' | '’' | '‘' | '*' | '_'));
        let text = text.trim_end_matches('-');
        let ends = after.starts_with('.') && !is_abbreviation(text);
        let letters = text.chars().any(char::is_alphanumeric);
        if letters {
            let capital = text.chars().next().is_some_and(char::is_uppercase);
            let first = self.items.iter().all(|item| item.shape == Shape::Mark);
            let shape = match (capital, first) {
                (false, _) => Shape::Plain,
                (true, true) => Shape::First,
                (true, false) => Shape::Capital,
            };
            expand(text, shape, &mut self.items);
        } else if text.starts_with("--") || text == "-" || text.starts_with("->") {
            self.items.push(Item::mark('-'));
        }
        if ends {
            self.end_sentence(false);
            return &after[1..];
        }
        after
    }

    fn end_sentence(&mut self, question: bool) {
        let items = std::mem::take(&mut self.items);
        if items.is_empty() || items.len() > LONGEST_SENTENCE {
            return;
        }
        self.done.push(Sentence { items, question });
    }
}

/// Returns what lies before a closing mark on the same line, at most `longest` bytes away, and
/// what follows it.
fn within<'t>(rest: &'t str, close: &str, longest: usize) -> Option<(&'t str, &'t str)> {
    let mut end = rest.len().min(longest);
    while !rest.is_char_boundary(end) {
        end -= 1;
    }
    let line = rest[..end].split('\n').next()?;
    let at = line.find(close)?;
    let inside = line[..at].trim();
    (!inside.is_empty()).then(|| (inside, &rest[at + close.len()..]))
}

fn starts_word(c: char) -> bool {
    c.is_alphanumeric() || "-_/.~#@$€£+*'‘’%\\".contains(c)
}

fn is_abbreviation(word: &str) -> bool {
    const ABBREVIATIONS: [&str; 9] = [
        "e.g", "i.e", "vs", "approx", "resp", "cf", "no", "incl", "ca",
    ];
    ABBREVIATIONS
        .iter()
        .any(|short| word.eq_ignore_ascii_case(short))
}

/// Writes contractions out: `doesn't` is `does not`, `we're` is `we are`.
fn expand(text: &str, shape: Shape, items: &mut Vec<Item>) {
    let plain = text.replace('’', "'");
    let lower = plain.to_lowercase();
    let whole = match lower.as_str() {
        "can't" | "cannot" => Some(("can", "not")),
        "won't" => Some(("will", "not")),
        "shan't" => Some(("shall", "not")),
        "dont" => Some(("do", "not")),
        "doesnt" => Some(("does", "not")),
        "isnt" => Some(("is", "not")),
        "it's" => Some(("it", "is")),
        "that's" => Some(("that", "is")),
        "there's" => Some(("there", "is")),
        "let's" => Some(("let", "us")),
        _ => None,
    };
    if let Some((first, second)) = whole {
        items.push(Item::word(first, shape));
        items.push(Item::word(second, Shape::Plain));
        return;
    }
    let ends = [
        ("n't", "not"),
        ("'re", "are"),
        ("'ll", "will"),
        ("'ve", "have"),
        ("'d", "would"),
        ("'m", "am"),
    ];
    for (end, meaning) in ends {
        if let Some(base) = lower.strip_suffix(end)
            && !base.is_empty()
        {
            items.push(Item::word(base, shape));
            items.push(Item::word(meaning, Shape::Plain));
            return;
        }
    }
    items.push(Item::word(&plain, shape));
}
