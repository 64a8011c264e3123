//! A terminal: the console's prompt, its history and completion, and colours.

use std::{
    fs::{self, File},
    io::{Read as _, Write as _},
    process::{Child, Command, Stdio},
    sync::mpsc::{self, Receiver},
};

use pretty_assertions::assert_eq;
use rustix::{
    fs::{Mode, OFlags},
    pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt},
};

use crate::world::{PATIENCE, World, ended, id_of, mode, run};

const PROMPT: &str = "hyphae> ";

/// A program in a terminal of its own.
#[derive(Debug)]
struct Terminal {
    keyboard: File,
    screen: Receiver<Vec<u8>>,
    seen: String,
    child: Child,
}

impl Terminal {
    /// Starts a program whose stdin, stdout and stderr are a terminal.
    fn start(mut command: Command) -> Self {
        let ours = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).unwrap();
        grantpt(&ours).unwrap();
        unlockpt(&ours).unwrap();
        let name = ptsname(&ours, Vec::new()).unwrap();
        let flags = OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC;
        let theirs = rustix::fs::open(&name, flags, Mode::empty()).unwrap();
        command
            .env("TERM", "xterm")
            .stdin(Stdio::from(theirs.try_clone().unwrap()))
            .stdout(Stdio::from(theirs.try_clone().unwrap()))
            .stderr(Stdio::from(theirs));
        let child = command.spawn().unwrap();
        // The command holds their end; only without it is the end of the program seen.
        drop(command);
        let keyboard = File::from(ours);
        let mut reading = keyboard.try_clone().unwrap();
        let (sender, screen) = mpsc::channel();
        std::thread::spawn(move || {
            let mut buffer = [0; 4096];
            // The read fails when their end is closed.
            while let Ok(n @ 1..) = reading.read(&mut buffer) {
                if sender.send(buffer[..n].to_vec()).is_err() {
                    break;
                }
            }
        });
        Self {
            keyboard,
            screen,
            seen: String::new(),
            child,
        }
    }

    fn press(&mut self, keys: &str) {
        self.keyboard.write_all(keys.as_bytes()).unwrap();
    }

    /// Waits until a text is on the screen, and returns what came up to it since the last wait.
    #[track_caller]
    fn until(&mut self, text: &str) -> String {
        loop {
            if let Some(at) = self.seen.find(text) {
                let rest = self.seen.split_off(at + text.len());
                return std::mem::replace(&mut self.seen, rest);
            }
            match self.screen.recv_timeout(PATIENCE) {
                Ok(piece) => self.seen.push_str(&String::from_utf8_lossy(&piece)),
                Err(_) => panic!("{text:?} did not come: {:?}", self.seen),
            }
        }
    }

    /// Waits for the end of the program; returns its exit code and what it printed last.
    #[track_caller]
    fn end(mut self) -> (Option<i32>, String) {
        while let Ok(piece) = self.screen.recv_timeout(PATIENCE) {
            self.seen.push_str(&String::from_utf8_lossy(&piece));
        }
        let status = ended(self.child, "a program in a terminal").status;
        (status.code(), self.seen)
    }
}

fn console(world: &World) -> Terminal {
    let mut command = world.hyphae();
    command.arg("console");
    let mut terminal = Terminal::start(command);
    terminal.until(PROMPT);
    terminal
}

#[test]
fn a_person_types_with_completion_and_sees_answers() {
    let world = World::new();
    let mut terminal = console(&world);
    terminal.press("/st\t");
    terminal.until("/store ");
    terminal.press("--ty\t");
    terminal.until("--type ");
    terminal.press("dec\t");
    terminal.until("Decision ");
    terminal.press("We ship Postgres for V1\r");
    let answer = terminal.until(PROMPT);
    let at = answer.find("stored ").unwrap();
    let id = id_of(answer[at..].lines().next().unwrap()).to_owned();
    terminal.press("We ship Postgres for V1\r");
    let answer = terminal.until(PROMPT);
    assert!(
        answer.contains(&format!("{id} distance=0.0000 type=Decision")),
        "{answer:?}"
    );
    terminal.press("\u{4}");
    assert_eq!(terminal.end().0, Some(0));
}

#[test]
fn history_goes_on_in_the_next_session_and_is_closed_to_others() {
    let world = World::new();
    let mut terminal = console(&world);
    terminal.press("/recal gannets\r");
    terminal.until("try /help");
    terminal.until(PROMPT);
    terminal.press("\u{4}");
    assert_eq!(
        terminal.end().0,
        Some(0),
        "a failed command is no failure of the session"
    );

    let history = world.home().join(".local/state/hyphae/console-history");
    assert_eq!(mode(&history), 0o600);
    assert_eq!(mode(history.parent().unwrap()), 0o700);
    assert!(
        fs::read_to_string(&history)
            .unwrap()
            .contains("/recal gannets\n")
    );

    let mut terminal = console(&world);
    terminal.press("\u{1b}[A");
    terminal.until("/recal gannets");
    terminal.press("\r");
    terminal.until("unknown command \"/recal\"");
    terminal.until(PROMPT);
    terminal.press("\u{4}");
    assert_eq!(terminal.end().0, Some(0));
}

#[test]
fn the_log_says_nothing_when_there_is_nothing_to_say() {
    let world = World::new();
    let mut command = world.hyphae();
    command.arg("console");
    let mut terminal = Terminal::start(command);
    let greeting = "Hyphae memory console. /help shows the commands, Ctrl-D ends it.";
    let before = terminal.until(greeting);
    assert_eq!(before, format!("\u{1b}[2m{greeting}"));
    terminal.until(PROMPT);
    terminal.press("\u{4}");
    assert_eq!(terminal.end().0, Some(0));
}

#[test]
fn the_history_keeps_no_secret() {
    let world = World::new();
    let token: String = "a1B2c3D4e5F6g7H8i9J0k".chars().cycle().take(36).collect();
    let mut terminal = console(&world);
    terminal.press(&format!("/store the token is ghp_{token}\r"));
    terminal.until("1 secret was masked");
    terminal.until(PROMPT);
    terminal.press("\u{4}");
    assert_eq!(terminal.end().0, Some(0));
    let history = world.home().join(".local/state/hyphae/console-history");
    let history = fs::read_to_string(history).unwrap();
    assert!(history.contains("/store the token is "), "{history}");
    assert!(!history.contains(&token), "{history}");
}

#[test]
fn an_interrupt_and_an_empty_line_bring_the_prompt_back() {
    let world = World::new();
    let mut terminal = console(&world);
    terminal.press("/store half a thought\u{3}");
    terminal.until(PROMPT);
    terminal.press("\r");
    terminal.until(PROMPT);
    terminal.press("half a thought\r");
    terminal.until("no results");
    terminal.until(PROMPT);
    terminal.press("\u{4}");
    assert_eq!(terminal.end().0, Some(0));
}

#[test]
fn colours_are_for_terminals_that_want_them() {
    let world = World::new();
    world.store("herons stand in the reeds");
    for arguments in [
        &["console", "herons stand in the reeds"][..],
        &["console", "/recal"],
        &["doctor"],
        &["setup", "zed"],
        &["setup", "jetbrains", "--write"],
    ] {
        let start = |variable: &str, value: &str| {
            let mut command = world.hyphae();
            command.args(arguments).env(variable, value);
            let mut file = world.home();
            file.push(".jetbrains/acp.json");
            let _was_there = fs::remove_file(file);
            command
        };
        let screen = Terminal::start(start("NO_COLOR", "")).end().1;
        assert!(screen.contains("\u{1b}["), "{arguments:?}: {screen:?}");
        let screen = Terminal::start(start("NO_COLOR", "1")).end().1;
        assert!(
            !screen.contains('\u{1b}') && !screen.is_empty(),
            "{arguments:?}: {screen:?}"
        );
        let piped = run(start("CLICOLOR_FORCE", ""), "");
        assert!(
            !piped.out.contains('\u{1b}') && !piped.out.is_empty(),
            "{arguments:?}"
        );
        assert_eq!(piped.err, "");
    }
}
