//! The program: arguments, configuration, wiring, signals, and nothing else.
//!
//! Exit codes: 0 done, 1 a command was understood and failed, 2 not started (usage, key or
//! database). Start reading at `commands`; `wiring` puts the parts together.

mod args;
mod clock;
mod commands;
mod config;
mod files;
mod logging;
mod output;
mod progress;
mod projects;
mod secrets;
mod setup;
mod stdio;
mod stopping;
mod wiring;

use std::{io::Write, process::ExitCode};

use clap::CommandFactory;

use args::{Cli, Command};
use commands::Outcome;
use config::Config;

fn main() -> ExitCode {
    if let Some(code) = hyphae_keeper::entered(std::env::args_os().skip(1)) {
        return code;
    }
    let cli = Cli::of_process();
    logging::start(config::log_filter().as_deref());
    match run(cli.command) {
        Ok(Outcome::Done) => ExitCode::SUCCESS,
        Ok(Outcome::Failed) => ExitCode::from(1),
        Err(error) if is_broken_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            // One line, and nothing to be done if even stderr is gone.
            let _unheard = writeln!(std::io::stderr(), "hyphae-server: {error:#}");
            ExitCode::from(2)
        }
    }
}

fn run(command: Command) -> anyhow::Result<Outcome> {
    if let Command::Completions { shell } = command {
        let mut script = Vec::new();
        clap_complete::generate(shell, &mut Cli::command(), "hyphae-server", &mut script);
        // clap_complete names the parts of a command with a hyphen in two ways; bash needs one.
        let script = String::from_utf8(script)?.replace("hyphae__subcmd__server", "hyphae__server");
        output::take_stdout()?.write_all(script.as_bytes())?;
        return Ok(Outcome::Done);
    }
    let config = Config::from_environment()?;
    if let Command::Setup(args) = &command {
        setup::run(args, &config, &mut output::Printer::take()?)?;
        return Ok(Outcome::Done);
    }
    // Few threads that block (stdin, stdout, the model): each costs memory of its own.
    let runtime = tokio::runtime::Builder::new_current_thread()
        .max_blocking_threads(4)
        .enable_all()
        .build()?;
    let outcome = runtime.block_on(async {
        match command {
            Command::Init(args) => commands::init::run(&config, args).await,
            Command::Acp(args) => commands::acp::run(&config, args).await,
            Command::AcpStdio(args) => commands::acp_stdio::run(&config, args).await,
            Command::McpStdio(args) => commands::mcp_stdio::run(config, args).await,
            Command::Console(args) => commands::console::run(&config, args).await,
            Command::Keys(args) => commands::keys::run(&config, args).await,
            Command::Project(args) => commands::project::run(&config, args),
            Command::Doctor => commands::doctor::run(&config).await,
            Command::Reembed(args) => commands::reembed::run(&config, args).await,
            Command::Export(args) => commands::export::run(&config, args).await,
            Command::Import(args) => commands::import::run(&config, args).await,
            Command::Copy(args) => commands::copy::run(args).await,
            Command::Migrate(args) => commands::migrate::run(&config, &args).await,
            Command::Audit(args) => commands::audit::run(&config, args).await,
            Command::Setup(_) | Command::Completions { .. } => Ok(Outcome::Done),
        }
    });
    // A thread that waits for stdin cannot be stopped and must not hold the process.
    runtime.shutdown_background();
    outcome
}

/// Tells whether the reader of our output has gone away, as `head` does; that is no failure.
fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error
        .chain()
        .filter_map(|cause| cause.downcast_ref::<std::io::Error>())
        .any(|error| error.kind() == std::io::ErrorKind::BrokenPipe)
}
