//! Closed classes of English words: synonyms, opposites, and words that say nothing.

use std::{
    collections::{HashMap, HashSet},
    sync::LazyLock,
};

use rust_stemmers::{Algorithm, Stemmer};

static STEMMER: LazyLock<Stemmer> = LazyLock::new(|| Stemmer::create(Algorithm::English));

/// Returns the form under which a word in lower case is compared: its stem if it is plain
/// English, or the one word that stands for it and its synonyms.
pub(super) fn key(lower: &str) -> String {
    if let Some(canon) = SYNONYMS.get(lower) {
        return (*canon).to_owned();
    }
    let stem = stem(lower);
    SYNONYMS
        .get(stem.as_str())
        .map_or(stem, |canon| (*canon).to_owned())
}

/// Irregular forms, each behind its base form.
const IRREGULAR: &str = "send/sent build/built keep/kept hold/held write/wrote/written choose/chose/chosen \
    take/took/taken run/ran make/made find/found meet/met see/saw/seen go/went/gone lead/led leave/left \
    lose/lost give/gave/given show/shown hide/hid/hidden throw/threw/thrown draw/drew/drawn break/broke/broken \
    begin/began/begun speak/spoke/spoken forget/forgot/forgotten get/got/gotten pay/paid sell/sold buy/bought \
    bring/brought catch/caught teach/taught think/thought tell/told say/said understand/understood \
    stand/stood spend/spent mean/meant rebuild/rebuilt become/became know/knew/known grow/grew/grown \
    forbid/forbade/forbidden drop/dropped fall/fell/fallen rise/rose/risen drive/drove/driven";

static BASES: LazyLock<HashMap<&'static str, &'static str>> = LazyLock::new(|| {
    let mut bases = HashMap::new();
    for verb in IRREGULAR.split_whitespace() {
        let mut forms = verb.split('/');
        let base = forms.next().unwrap_or_default();
        bases.extend(forms.map(|form| (form, base)));
    }
    bases
});

/// Returns the stem of plain English, anything else as it is.
pub(super) fn stem(lower: &str) -> String {
    let lower = BASES.get(lower).copied().unwrap_or(lower);
    if lower.len() > 2 && lower.bytes().all(|b| b.is_ascii_lowercase()) {
        STEMMER.stem(lower).into_owned()
    } else {
        lower.to_owned()
    }
}

/// Words that mean the same in talk about software, the one that stands for all of them first.
const SYNONYM_GROUPS: &[&str] = &[
    "store keep kept hold held save persist live reside located location",
    "database databases db dbs",
    "repository repositories repo repos",
    "configuration config configs configurations settings",
    "authentication auth authn",
    "environment env",
    "directory directories folder folders dir",
    "documentation docs doc",
    "dependency dependencies deps dep",
    "application app apps applications",
    "variable variables var vars",
    "parameter parameters param params",
    "argument arguments arg args",
    "function functions fn func",
    "administrator admin admins administrators",
    "certificate certificates cert certs",
    "internationalisation i18n internationalization",
    "timeout timeouts time-out",
    "require required requires requirement need needs needed necessary mandatory compulsory obligatory",
    "optional optionally voluntary",
    "enabled on enable enables enabling active activated activate turned-on",
    "disabled off disable disables disabling inactive deactivated deactivate",
    "allow allowed allows permitted permit permits permissible permission",
    "automatic automatically automated auto automate automation automates",
    "manual manually by-hand",
    "sync synchronous synchronously",
    "async asynchronous asynchronously",
    "remove removed removes removal delete deleted deletes deletion erase erased",
    "fast quick quickly rapid",
    "slow slowly sluggish",
    "faster quicker",
    "small little tiny",
    "large big huge",
    "short brief concise",
    "long lengthy verbose",
    "license licence licenses licences",
    "color colour colors colours",
    "frontend front-end",
    "backend back-end",
    "approval approvals sign-off",
    "production prod",
    "development dev",
    "staging stage",
    "error errors failure failures",
    "lead leads leader",
    "retry retries retried retrying",
    "pull-request pull-requests pr prs",
    "override overrides overriding overridden",
    "precede precedes precedence",
    "ascending asc",
    "descending desc",
    "public publicly",
    "private privately",
    "library libraries lib libs",
    "begin start starts started starting begins began",
    "end finish finishes finished ends ended",
    "expire expires expiry expired expiration",
    "commit commits committed committing",
    "deploy deploys deployment deployments deployed deploying",
    "indent indentation indented indents",
    "migrate migration migrations",
    "encode encoding encoded",
    "compress compression compressed",
    "encrypt encryption encrypted",
    "validate validation validated validating",
    "sign signed signing signature",
    "paginate pagination paginated",
    "test tests testing tested",
    "release releases released releasing",
    "version versions",
    "sequential sequentially serially",
    "parallel parallelly concurrent concurrently",
    "direct directly straight",
    "merge merges merged merging",
    "rebase rebased rebases rebasing",
];

static SYNONYMS: LazyLock<HashMap<&'static str, &'static str>> = LazyLock::new(|| {
    let mut synonyms = HashMap::new();
    for group in SYNONYM_GROUPS {
        let mut words = group.split_whitespace();
        let canon = words.next().unwrap_or_default();
        synonyms.insert(canon, canon);
        synonyms.extend(words.map(|word| (word, canon)));
    }
    synonyms
});

/// Opposites of which one holds if the other does not.
const COMPLEMENTS: &str = "enabled/disabled on/off require/optional public/private sync/async mutable/immutable \
    stateful/stateless automatic/manual pass/fail succeed/fail store/remove keep/remove internal/external \
    open/closed online/offline true/false present/absent strict/lenient allow/forbid single/multiple \
    permanent/temporary persistent/ephemeral relative/absolute open-source/closed-source \
    include/exclude ascending/descending exclusive/shared permanent/reversible server-side/client-side visible/hidden transparent/opaque \
    inclusive/exclusive newest/oldest earliest/latest experimental/stable eagerly/lazily eager/lazy static/dynamic typed/untyped \
    compiled/interpreted centralised/decentralised centralized/decentralized sequential/parallel synchronous/asynchronous \
    serial/parallel odd/even whitelist/blacklist allowlist/denylist opt-in/opt-out \
    hard/soft local/remote global/local live/dead alive/dead used/unused accept/refuse \
    always/never all/none everyone/nobody";

/// Opposites between which there is something else.
const CONTRARIES: &str = "before/after fast/slow faster/slower dark/light small/large smaller/larger short/long \
    shorter/longer high/low higher/lower more/less more/fewer cheaper/costlier simple/complex easy/hard \
    easier/harder better/worse newer/older first/last begin/end above/below up/down cheap/expensive \
    stable/unstable reliable/flaky light/heavy rare/frequent rarely/often horizontal/vertical \
    left/right top/bottom push/pull leading/trailing inside/outside prefix/suffix min/max \
    singular/plural uppercase/lowercase upper/lower warm/cold hot/cold beginning/end older/younger \
    like/dislike love/hate prefer/dislike like/hate enjoy/hate";

/// How two words oppose each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Opposition {
    /// If one does not hold, the other does.
    Complement,
    /// Both may fail to hold.
    Contrary,
}

static OPPOSITES: LazyLock<HashMap<(String, String), Opposition>> = LazyLock::new(|| {
    let mut opposites = HashMap::new();
    let lists = [
        (COMPLEMENTS, Opposition::Complement),
        (CONTRARIES, Opposition::Contrary),
    ];
    for (list, opposition) in lists {
        for (a, b) in list
            .split_whitespace()
            .filter_map(|pair| pair.split_once('/'))
        {
            opposites.insert((key(a), key(b)), opposition);
            opposites.insert((key(b), key(a)), opposition);
        }
    }
    opposites
});

const NEGATIVE_PREFIXES: [&str; 10] = [
    "un", "non-", "non", "in", "im", "ir", "il", "dis", "de", "a",
];

/// Tells whether two words in lower case are opposites, and how.
pub(super) fn opposition(a: &str, b: &str) -> Option<Opposition> {
    if let Some(found) = OPPOSITES.get(&(key(a), key(b))) {
        return Some(*found);
    }
    if let (Some((head_a, tail_a)), Some((head_b, tail_b))) = (a.split_once('-'), b.split_once('-'))
        && a != b
    {
        // `case-sensitive` and `case-insensitive`, `single-threaded` and `multi-threaded`.
        if head_a == head_b {
            return opposition(tail_a, tail_b);
        }
        if tail_a == tail_b {
            let heads = [
                ("single", "multi"),
                ("multi", "single"),
                ("short", "long"),
                ("long", "short"),
            ];
            if heads.contains(&(head_a, head_b)) {
                return Some(Opposition::Complement);
            }
            return opposition(head_a, head_b);
        }
    }
    if let Some(found) = OPPOSITES.get(&(key(a), key(b))) {
        return Some(*found);
    }
    let negates = |long: &str, short: &str| {
        short.len() >= 4
            && NEGATIVE_PREFIXES.iter().any(|prefix| {
                // `de` and `a` are too often part of the word.
                let sure = prefix.len() > 1 && *prefix != "de" || short.starts_with("symm");
                sure && long
                    .strip_prefix(prefix)
                    .is_some_and(|rest| rest == short || stem(rest) == stem(short))
            })
    };
    (negates(a, b) || negates(b, a)).then_some(Opposition::Complement)
}

/// Words that say nothing about what is so.
const EMPTY: &str = "we us our ours you your yours i me my mine it its they them their theirs he she his her \
    him this that these those the a an some any all every each both own such itself themselves one's \
    ones always already also just simply really very quite fully completely actually basically please here \
    there then however therefore thus so too again ever only still now currently strictly definitely explicitly \
    today everywhere everything everyone entire whole current new recently presently clearly obviously \
    etc everybody \
    do does did done be is are was were been being am will would shall should must can could may might \
    ought and or but if when while than of to in on at by for with from as into onto via about per within over \
    under between against during through across along upon inside toward towards out up off who whose whom \
    which what where why how not no never nor neither longer yes ok okay self whenever once eventually \
    officially internally exclusively solely well";

static EMPTY_WORDS: LazyLock<Vec<&'static str>> = LazyLock::new(|| {
    let mut words: Vec<&str> = EMPTY.split_whitespace().collect();
    words.sort_unstable();
    words
});

/// Tells whether a word in lower case says nothing about what is so.
pub(super) fn is_empty(lower: &str) -> bool {
    EMPTY_WORDS.binary_search(&lower).is_ok()
}

/// Tells whether a word in lower case has synonyms or opposites.
pub(super) fn is_known(lower: &str) -> bool {
    static OPPOSED: LazyLock<HashSet<&'static str>> = LazyLock::new(|| {
        let pairs = COMPLEMENTS
            .split_whitespace()
            .chain(CONTRARIES.split_whitespace());
        pairs.flat_map(|pair| pair.split('/')).collect()
    });
    SYNONYMS.contains_key(lower)
        || OPPOSED.contains(lower)
        || OPPOSED.contains(stem(lower).as_str())
}
