//! Which commands may change files.

use std::fmt;

use super::Script;
use super::programs::unwrapped;

impl Script {
    /// Whether it may change files of a project, by its words. A program whose purpose is another
    /// one (a compiler, a test) does not count.
    pub(crate) fn may_change_files(&self) -> bool {
        self.writes_a_file || self.commands.iter().any(|words| changes_files(words))
    }

    /// The files that it moves: the old path and the new one.
    pub(crate) fn moves(&self) -> impl Iterator<Item = (&str, &str)> {
        self.commands.iter().flat_map(|words| moves(words))
    }
}

impl fmt::Display for Script {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let commands: Vec<String> = self.commands.iter().map(|words| words.join(" ")).collect();
        f.write_str(&commands.join("; "))
    }
}

fn changes_files(words: &[String]) -> bool {
    let Some((program, arguments)) = unwrapped(words) else { return false };
    let has = |options: &[&str]| arguments.iter().any(|word| options.contains(&word.as_str()));
    let has_short = |flag: char| {
        let mut short = arguments.iter().filter(|it| it.starts_with('-') && !it.starts_with("--"));
        short.any(|word| word.contains(flag))
    };
    let verb = arguments.iter().find(|word| !word.starts_with('-')).map(String::as_str);
    match program {
        "mv" | "cp" | "rm" | "tee" | "touch" | "patch" | "dd" | "truncate" | "ln" | "install"
        | "rsync" | "unlink" | "shred" | "unzip" | "rename" | "sponge" | "ed" | "ex" => true,
        "sed" | "perl" | "gawk" => {
            has_short('i') || arguments.iter().any(|word| word.starts_with("--in-place"))
        }
        "tar" => verb.is_some_and(|it| it.contains('x')) || has_short('x') || has(&["--extract"]),
        "git" => matches!(
            verb,
            Some(
                "checkout"
                    | "restore"
                    | "reset"
                    | "stash"
                    | "apply"
                    | "am"
                    | "merge"
                    | "rebase"
                    | "pull"
                    | "cherry-pick"
                    | "revert"
                    | "mv"
                    | "rm"
                    | "clean"
                    | "switch"
            )
        ),
        "cargo" => {
            matches!(verb, Some("fmt" | "fix" | "add" | "remove" | "update")) || has(&["--fix"])
        }
        "rustfmt" | "black" | "isort" => !has(&["--check"]),
        "ruff" => has(&["--fix"]) || verb == Some("format"),
        "gofmt" | "goimports" => has_short('w'),
        "prettier" => has(&["--write", "-w"]),
        "eslint" | "biome" => has(&["--fix", "--write"]),
        "npm" | "pnpm" | "yarn" | "bun" => {
            matches!(verb, Some("install" | "i" | "add" | "remove" | "uninstall" | "update"))
        }
        // What a program that is given as text does, only it knows.
        "python" | "python3" | "node" | "ruby" => has(&["-c", "-e", "-"]) || arguments.is_empty(),
        _ => false,
    }
}

fn moves(words: &[String]) -> Vec<(&str, &str)> {
    let Some((program, arguments)) = unwrapped(words) else { return Vec::new() };
    let arguments = match (program, arguments) {
        ("mv", arguments) => arguments,
        ("git", [verb, arguments @ ..]) if verb == "mv" => arguments,
        _ => return Vec::new(),
    };
    let paths: Vec<&str> =
        arguments.iter().map(String::as_str).filter(|word| !word.starts_with('-')).collect();
    match paths.as_slice() {
        [from @ .., to] => from.iter().map(|from| (*from, *to)).collect(),
        [] => Vec::new(),
    }
}
