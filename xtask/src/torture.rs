//! `cargo xtask torture`: kills `sync`, `hook` and `forget` at random moments, truncates files of
//! the store as a power cut does, and flips bits in them.
//!
//! After each of these the next `sync` runs, and `export --as native` must return every byte of
//! every source; no byte of a forgotten session may remain in the store, compressed or not. Most
//! sessions are small, and are in packs. If a flipped bit is read before that, the answer must be
//! right or name the damage. `ROUNDS=n` for more rounds, `SEED=n` for others, `BINARY=path` for
//! another binary.

mod machine;

use std::error::Error;
use std::fs::{self, File};
use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use crate::Outcome;
use machine::Machine;

const ROUNDS: u64 = 60;

/// Numbers that look random, the same for the same seed.
#[derive(Debug)]
pub(crate) struct Dice(u64);

impl Dice {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.max(1))
    }

    /// Any number of eight hex digits.
    pub(crate) fn hex(&mut self) -> usize {
        self.roll(1 << 32)
    }

    /// A number below `sides`; 0 if that is 0.
    pub(crate) fn roll(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % (sides.max(1) as u64)).unwrap_or_default()
    }

    fn moment(&mut self, most: Duration) -> Duration {
        most.mul_f64(self.roll(1000) as f64 / 1000.0)
    }
}

/// What was tried, and the results.
#[derive(Debug, Default)]
struct Counts {
    tried: u64,
    /// Sources that exist but could not be exported.
    lost: u64,
    /// Answers that were wrong and did not say so.
    wrong: u64,
    /// Answers that named the damage.
    named: u64,
}

const ACTS: [&str; 6] =
    ["killed sync", "killed hook", "killed forget", "cut file", "two syncs", "flipped bit"];

pub(crate) fn run(root: &Path) -> Outcome {
    let number = |name: &str, otherwise: u64| {
        let set = std::env::var_os(name).and_then(|it| it.to_str()?.parse().ok());
        set.unwrap_or(otherwise)
    };
    let (rounds, seed) = (number("ROUNDS", ROUNDS), number("SEED", 0x5eed));
    let binary = std::env::var_os("BINARY").map(Into::into);
    let binary = binary.unwrap_or_else(|| root.join("target/release/antiphon"));
    let mut dice = Dice::new(seed);
    let mut machine = Machine::new(&binary, &mut dice)?;
    let begun = Instant::now();
    machine.antiphon(&["sync"])?;
    let whole = begun.elapsed();
    let mut counts: [Counts; ACTS.len()] = Default::default();
    for _ in 0..rounds {
        let act = dice.roll(ACTS.len());
        let Some(counts) = counts.get_mut(act) else { continue };
        counts.tried += 1;
        match act {
            0 => {
                machine.grow(&mut dice)?;
                let id = machine.any_id(&mut dice);
                machine.age(&id)?;
                machine.kill(&["sync"], "", dice.moment(whole))?;
            }
            1 => {
                let input = machine.grow(&mut dice)?;
                machine.kill(&["hook"], &input, dice.moment(Duration::from_millis(30)))?;
            }
            2 => counts.lost += kill_forget(&mut machine, &mut dice)?,
            3 => cut(&machine, &mut dice)?,
            4 => {
                machine.grow(&mut dice)?;
                let other = machine.start(&["sync"])?;
                machine.kill(&["sync"], "", dice.moment(whole))?;
                machine.wait(other)?;
            }
            _ => flip(&machine, &mut dice, counts)?,
        }
        counts.lost += lost(&machine)?;
    }
    let mut is_good = true;
    println!("{rounds} rounds, seed {seed}");
    for (name, counts) in ACTS.iter().zip(&counts) {
        let Counts { tried, lost, wrong, named } = counts;
        is_good &= *lost == 0 && *wrong == 0;
        print!("  {name:<14} {tried:>6} tried   {lost:>3} lost   {wrong:>3} wrong answers");
        println!("{}", if *named > 0 { format!("   {named:>3} named") } else { String::new() });
    }
    let deep = machine.antiphon(&["doctor", "--deep"])?;
    is_good &= deep.status.success();
    println!("  doctor --deep: {}", if deep.status.success() { "all is right" } else { "damage" });
    if is_good {
        machine.remove()?;
    } else {
        println!("  left for a look: {}", machine.folder.display());
    }
    Ok(if is_good { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// How many sessions are lost after the next `sync`. A hook that was killed may have left another
/// process that still copies: it is waited for.
fn lost(machine: &Machine) -> Result<u64, Box<dyn Error>> {
    for _ in 0..10 {
        machine.antiphon(&["sync"])?;
        if machine.missing()?.is_empty() {
            return Ok(0);
        }
        std::thread::sleep(Duration::from_millis(300));
    }
    let missing = machine.missing()?;
    for id in &missing {
        println!("  {id} is not as it was written");
    }
    Ok(missing.len() as u64)
}

/// Kills `forget`, forgets again, and checks whether anything is left or comes back.
fn kill_forget(machine: &mut Machine, dice: &mut Dice) -> Result<u64, Box<dyn Error>> {
    let id = machine.any_id(dice);
    let moment = dice.moment(Duration::from_millis(30));
    machine.kill(&["forget", &id, "--yes"], "", moment)?;
    let again = machine.antiphon(&["forget", &id, "--yes"])?;
    // It was forgotten now, or had been before.
    let is_forgotten = matches!(again.status.code(), Some(0 | 1));
    machine.antiphon(&["sync"])?;
    let listed = machine.antiphon(&["ls", "--json", "--limit", "1000"])?;
    let is_back = String::from_utf8_lossy(&listed.stdout).contains(&id);
    // Every line of a session has its id.
    let left = machine.holder(&id)?;
    let is_left = left.is_some();
    if !is_forgotten || is_back || is_left {
        println!("  {id}: forgotten {is_forgotten}, back {is_back}, bytes left in {left:?}");
    }
    machine.replace(&id, dice)?;
    Ok(u64::from(!is_forgotten || is_back || is_left))
}

/// Truncates a file of the store, as a power cut does.
fn cut(machine: &Machine, dice: &mut Dice) -> Result<(), Box<dyn Error>> {
    let file = machine.any_stored(dice)?;
    let len = usize::try_from(fs::metadata(&file)?.len())?;
    File::options().write(true).open(&file)?.set_len(dice.roll(len + 1) as u64)?;
    Ok(())
}

/// Flips a bit, sometimes without a trace in the file's time, as disks do. Every answer must be
/// right or name the damage; what cannot be noticed is for `doctor --deep`.
fn flip(machine: &Machine, dice: &mut Dice, counts: &mut Counts) -> Result<(), Box<dyn Error>> {
    let file = machine.any_stored(dice)?;
    let changed = fs::metadata(&file)?.modified()?;
    let mut bytes = fs::read(&file)?;
    let at = dice.roll(bytes.len());
    if let Some(byte) = bytes.get_mut(at) {
        *byte ^= 1 << dice.roll(8);
    }
    fs::write(&file, bytes)?;
    if dice.roll(2) == 0 {
        File::options().write(true).open(&file)?.set_modified(changed)?;
    }
    let (wrong, named) = machine.wrong_and_named()?;
    counts.wrong += wrong;
    counts.named += named;
    machine.antiphon(&["doctor", "--deep"])?;
    Ok(())
}
