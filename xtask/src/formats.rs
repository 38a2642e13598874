//! `cargo xtask formats`: writes the table of formats in the README from `antiphon formats`.

use std::fs;
use std::path::Path;
use std::process::{Command, ExitCode};

use crate::Outcome;

const BEGIN: &str = "<!-- formats: `cargo xtask formats` writes this -->\n";
const END: &str = "<!-- end of formats -->";

pub(crate) fn run(root: &Path) -> Outcome {
    let mut command = Command::new("cargo");
    command.args(["run", "--quiet", "--package", "antiphon", "--", "formats", "--markdown"]);
    let output = command.current_dir(root).output()?;
    if !output.status.success() {
        return Err("`antiphon formats` failed".into());
    }
    let path = root.join("README.md");
    let readme = fs::read_to_string(&path)?;
    let (before, rest) = readme.split_once(BEGIN).ok_or("the README has no place for it")?;
    let (_, after) = rest.split_once(END).ok_or("the README has no end for it")?;
    let table = String::from_utf8(output.stdout)?;
    fs::write(&path, format!("{before}{BEGIN}{table}{END}{after}"))?;
    Ok(ExitCode::SUCCESS)
}
