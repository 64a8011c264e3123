//! Many processes that use one memory at once.

use std::{
    io::{BufRead, BufReader, Write},
    process::{Child, ChildStdout, Command, Stdio},
    sync::Arc,
    time::Instant,
};

use anyhow::Context;
use hyphae_core::{audit::Via, memories::NewMemory};

use crate::{
    DIMENSION,
    corpus::{Corpus, Drawn},
    figures::{Times, quantile},
    known::{Known, asked, memories},
    places::{self, Place},
};

const MEMBERS: u64 = 16;
const EACH: u64 = 50;

/// Milliseconds of single calls of all processes, and seconds of the whole.
#[derive(Debug, Default)]
pub(crate) struct Crowd {
    recall: (Vec<f64>, f64),
    store: (Vec<f64>, f64),
}

impl Crowd {
    pub(crate) fn print(&self, place: &str) {
        print(&format!("recall, {place}"), &self.recall.0, self.recall.1);
        print(&format!("store, {place}"), &self.store.0, self.store.1);
    }
}

pub(crate) fn print(name: &str, times: &[f64], seconds: f64) {
    println!(
        "| {name} | {:.1} ms | {:.1} ms | {:.0} |",
        quantile(times, 0.5),
        quantile(times, 0.95),
        times.len() as f64 / seconds
    );
}

/// Lets 16 processes recall, and then store, all at once.
pub(crate) fn measure(place: &Place, size: u64) -> anyhow::Result<Crowd> {
    let program = std::env::current_exe()?;
    let mut members: Vec<(Child, BufReader<ChildStdout>)> = (0..MEMBERS)
        .map(|member| {
            let mut child = Command::new(&program)
                .args(["--member", &place.address()])
                .args([size.to_string(), member.to_string()])
                .stdin(Stdio::piped())
                .stdout(Stdio::piped())
                .spawn()?;
            let out = child.stdout.take().context("no output")?;
            Ok((child, BufReader::new(out)))
        })
        .collect::<anyhow::Result<_>>()?;
    for (_, out) in &mut members {
        line(out)?;
    }
    let mut crowd = Crowd::default();
    for (times, seconds) in [&mut crowd.recall, &mut crowd.store] {
        let started = Instant::now();
        for (child, _) in &mut members {
            child
                .stdin
                .as_mut()
                .context("no input")?
                .write_all(b"go\n")?;
        }
        for (_, out) in &mut members {
            let told = line(out)?;
            let told: Vec<f64> = told
                .split_whitespace()
                .map(str::parse)
                .collect::<Result<_, _>>()?;
            times.extend(told);
        }
        *seconds = started.elapsed().as_secs_f64();
    }
    for (mut child, _) in members {
        anyhow::ensure!(child.wait()?.success(), "a process failed");
    }
    Ok(crowd)
}

fn line(out: &mut BufReader<ChildStdout>) -> anyhow::Result<String> {
    let mut line = String::new();
    anyhow::ensure!(out.read_line(&mut line)? > 0, "a process has gone away");
    Ok(line)
}

/// One of the processes: says that it is ready, and after each line what its calls took.
pub(crate) async fn member(mut arguments: impl Iterator<Item = String>) -> anyhow::Result<()> {
    let mut next = || arguments.next().context("an argument is missing");
    let (place, size, member) = (Place::at(&next()?), next()?, next()?);
    let (size, member): (u64, u64) = (size.parse()?, member.parse()?);
    let corpus = Corpus::new(DIMENSION);
    let questions: Vec<Drawn> = (0..EACH)
        .map(|n| corpus.question((n * 397 + member * 31) % size))
        .collect();
    // Behind those of the lone process.
    let new: Vec<Drawn> = (0..EACH)
        .map(|n| corpus.memory(size + 1_000_000 + member * EACH + n))
        .collect();
    let known = Arc::new(Known::new(questions.iter().chain(&new)));
    let (store, owner) = place.open().await?;
    let scope = owner.in_project(places::project()?);
    let memories = memories(store, &known);
    memories.recall(&scope, &asked(&questions[0])).await?;
    println!("ready");
    let mut turns = std::io::stdin().lines();
    turns.next().context("no turn")??;
    let mut times = Times::default();
    for question in &questions {
        times
            .take(memories.recall(&scope, &asked(question)))
            .await?;
    }
    tell(&times);
    turns.next().context("no turn")??;
    let mut times = Times::default();
    for memory in new {
        let memory = NewMemory::new(memory.text);
        times
            .take(memories.store(&scope, memory, &Via::default()))
            .await?;
    }
    tell(&times);
    Ok(())
}

fn tell(times: &Times) {
    let times: Vec<String> = times.wall.iter().map(|time| format!("{time:.4}")).collect();
    println!("{}", times.join(" "));
}
