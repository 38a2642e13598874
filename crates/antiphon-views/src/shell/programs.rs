//! Programs by what they do: those that only read, and those that check.

/// The name of a program without its folder.
pub(super) fn base_name(program: &str) -> &str {
    program.rsplit('/').next().unwrap_or(program)
}

/// The program and its arguments, after assignments and programs that only run another.
pub(super) fn unwrapped(words: &[String]) -> Option<(&str, &[String])> {
    let mut rest = words;
    loop {
        let (first, arguments) = rest.split_first()?;
        let name = base_name(first);
        rest = match name {
            _ if is_assignment(first) => arguments,
            "time" | "command" | "nice" | "nohup" | "builtin" => skip_options(arguments, &[]),
            "timeout" => skip_options(arguments, &["-s", "-k"]).get(1..).unwrap_or_default(),
            "xargs" => {
                let options = ["-n", "-I", "-P", "-L", "-d", "-a", "-s", "-E"];
                let runs = skip_options(arguments, &options);
                if runs.is_empty() {
                    return Some((name, runs));
                }
                runs
            }
            "npx" | "bunx" | "pnpx" | "uvx" => skip_options(arguments, &["-p", "--package"]),
            "uv" | "poetry" | "pipenv" | "pdm" | "hatch" | "bundle"
                if matches!(arguments.first().map(String::as_str), Some("run" | "exec")) =>
            {
                skip_options(arguments.get(1..).unwrap_or_default(), &["--with", "--extra"])
            }
            "python" | "python3" if arguments.first().is_some_and(|it| it == "-m") => {
                arguments.get(1..).unwrap_or_default()
            }
            _ => return Some((name, arguments)),
        };
    }
}

/// The name of a simple command: its program, and its subcommand if the program has such.
pub(super) fn name(words: &[String]) -> Option<String> {
    let (program, arguments) = unwrapped(words)?;
    let program = clip_name(program);
    let with_value = match program {
        "git" => &["-C", "-c", "--git-dir", "--work-tree"][..],
        "cargo" | "npm" | "pnpm" | "yarn" | "bun" | "go" | "uv" | "pip" | "pip3" | "poetry"
        | "docker" | "podman" | "kubectl" | "helm" | "terraform" | "gh" | "glab" | "brew"
        | "apt" | "apt-get" | "systemctl" | "dotnet" | "mvn" | "gradle" | "make" | "just"
        | "rustup" | "deno" | "mix" | "bundle" | "composer" | "nix" | "conda" | "aws"
        | "gcloud" | "az" => &[],
        _ => return Some(program.to_owned()),
    };
    // `cargo +nightly test` is `cargo test`.
    let toolchain = arguments.first().filter(|word| word.starts_with('+')).map_or(0, |_| 1);
    let rest = skip_options(arguments.get(toolchain..).unwrap_or_default(), with_value);
    let is_verb = |word: &&String| {
        word.len() <= 24
            && word.starts_with(|c: char| c.is_ascii_lowercase())
            && word.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | ':' | '_'))
    };
    Some(match rest.first().filter(is_verb) {
        Some(verb) => format!("{program} {verb}"),
        None => program.to_owned(),
    })
}

/// A program's name may be anything that a model writes.
fn clip_name(program: &str) -> &str {
    program.char_indices().nth(60).map_or(program, |(end, _)| &program[..end])
}

/// Whether a command only prepares for what follows it.
pub(super) fn prepares(name: &str) -> bool {
    matches!(
        name,
        "cd" | "pushd"
            | "export"
            | "set"
            | "source"
            | "."
            | "sleep"
            | "echo"
            | "true"
            | "mkdir"
            | "ulimit"
            | "umask"
            | "alias"
            | "unset"
    )
}

fn is_assignment(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| {
        !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    })
}

/// What follows the options, some of which have the next word as their value.
fn skip_options<'w>(words: &'w [String], with_value: &[&str]) -> &'w [String] {
    let mut rest = words;
    while let Some((first, after)) = rest.split_first().filter(|(word, _)| word.starts_with('-')) {
        let takes_next = with_value.contains(&first.as_str());
        rest = if takes_next { after.get(1..).unwrap_or_default() } else { after };
    }
    rest
}

/// Whether a simple command changes nothing.
pub(super) fn is_query(words: &[String]) -> bool {
    let Some((program, arguments)) = unwrapped(words) else { return false };
    if matches!(arguments, [only] if matches!(only.as_str(), "--version" | "-V" | "--help")) {
        return true;
    }
    let has = |options: &[&str]| {
        arguments.iter().any(|word| {
            options.iter().any(|option| word == option || word.starts_with(&format!("{option}=")))
        })
    };
    let has_flag = |flag: char| {
        let is_short = |word: &&String| word.starts_with('-') && !word.starts_with("--");
        arguments.iter().filter(is_short).any(|word| word.contains(flag))
    };
    match program {
        "ls" | "cat" | "head" | "tail" | "wc" | "pwd" | "which" | "whereis" | "type" | "cd"
        | "grep" | "egrep" | "fgrep" | "rg" | "ag" | "ack" | "zgrep" | "zcat" | "tree" | "stat"
        | "file" | "du" | "df" | "echo" | "printf" | "printenv" | "nl" | "cut" | "uniq" | "tr"
        | "diff" | "cmp" | "comm" | "jq" | "column" | "basename" | "dirname" | "realpath"
        | "readlink" | "test" | "[" | "true" | "false" | "tac" | "rev" | "less" | "more"
        | "bat" | "eza" | "exa" | "xxd" | "hexdump" | "od" | "strings" | "md5sum" | "sha1sum"
        | "sha256sum" | "cksum" | "seq" | "ps" | "pgrep" | "free" | "uptime" | "uname"
        | "whoami" | "id" | "dir" | "findstr" | "paste" | "join" | "fold" | "expand" => true,
        "find" => !has(&[
            "-delete", "-exec", "-execdir", "-ok", "-okdir", "-fprint", "-fprint0", "-fprintf",
            "-fls",
        ]),
        "fd" | "fdfind" => !has(&["-x", "-X", "--exec", "--exec-batch"]),
        "sed" | "yq" => !has_flag('i') && !has(&["--in-place", "--inplace"]),
        "awk" | "gawk" => !arguments.iter().any(|it| it.contains('>') || it.contains("system")),
        "sort" => !has_flag('o') && !has(&["--output"]),
        "date" => !has(&["-s", "--set"]),
        "env" => arguments.is_empty(),
        // With a command of its own it would have been unwrapped: it only prints its input.
        "xargs" => true,
        "git" => is_git_query(arguments),
        _ => false,
    }
}

fn is_git_query(arguments: &[String]) -> bool {
    let rest = skip_options(arguments, &["-C", "-c", "--git-dir", "--work-tree"]);
    let Some((verb, rest)) = rest.split_first() else { return false };
    let only_options = || rest.iter().all(|word| word.starts_with('-'));
    let first = rest.first().map(String::as_str);
    match verb.as_str() {
        "status" | "log" | "diff" | "show" | "blame" | "grep" | "shortlog" | "describe"
        | "rev-parse" | "rev-list" | "ls-files" | "ls-tree" | "ls-remote" | "cat-file"
        | "merge-base" | "name-rev" | "count-objects" | "for-each-ref" | "check-ignore" | "var"
        | "whatchanged" => !rest.iter().any(|word| word.starts_with("--output")),
        "branch" | "remote" => {
            let changes = |word: &String| matches!(word.as_str(), "-d" | "-D" | "-m" | "-M" | "-f");
            only_options() && !rest.iter().any(changes)
        }
        "tag" => rest.is_empty() || matches!(first, Some("-l" | "--list")),
        "stash" | "worktree" => first == Some("list"),
        "reflog" => first.is_none_or(|word| word == "show" || word.starts_with('-')),
        "config" => matches!(first, Some("--get" | "--get-all" | "--list" | "-l" | "get" | "list")),
        _ => false,
    }
}

/// Whether a simple command runs tests, checks types, or lints.
pub(super) fn is_check(words: &[String]) -> bool {
    let Some((program, arguments)) = unwrapped(words) else { return false };
    let verb = arguments.iter().find(|word| !word.starts_with(['-', '+']));
    let verb = verb.map(String::as_str).unwrap_or_default();
    let has = |option: &str| arguments.iter().any(|word| word == option);
    match program {
        "pytest" | "py.test" | "unittest" | "tox" | "nox" | "jest" | "vitest" | "mocha" | "ava"
        | "rspec" | "phpunit" | "bats" | "ctest" | "tsc" | "vue-tsc" | "mypy" | "pyright"
        | "basedpyright" | "eslint" | "stylelint" | "oxlint" | "flake8" | "pylint"
        | "shellcheck" | "hadolint" | "golangci-lint" | "staticcheck" | "rubocop" | "ktlint"
        | "detekt" | "markdownlint" | "yamllint" => true,
        "ruff" | "biome" => matches!(verb, "check" | "lint" | "ci") || has("--check"),
        "black" | "prettier" | "rustfmt" | "gofmt" | "isort" => has("--check") || has("-c"),
        "cargo" if verb == "fmt" => has("--check"),
        "cargo" => matches!(verb, "test" | "t" | "check" | "c" | "clippy" | "nextest"),
        "go" => matches!(verb, "test" | "vet"),
        "node" => has("--test"),
        "python" | "python3" => {
            let mut after = arguments.iter().skip_while(|word| !word.ends_with("manage.py"));
            after.nth(1).is_some_and(|word| matches!(word.as_str(), "test" | "check"))
        }
        "npm" | "yarn" | "pnpm" | "bun" | "deno" | "make" | "just" | "task" | "rake" | "gradle"
        | "gradlew" | "mvn" | "mvnw" | "dotnet" | "swift" | "mix" | "bazel" | "zig" | "sbt"
        | "lerna" | "nx" | "turbo" | "playwright" | "composer" | "ninja" | "meson" => {
            let script = arguments.iter().skip_while(|word| word.as_str() != "run").nth(1);
            matches!(verb, "t")
                || has_check_word(verb)
                || script.is_some_and(|it| has_check_word(it))
        }
        _ => false,
    }
}

/// Whether this is the name of a task that checks: `test:unit`, `type-check`, `ci-lint`.
fn has_check_word(task: &str) -> bool {
    task.split([':', '-', '_', '.', '/']).any(|part| {
        matches!(part, "test" | "tests" | "lint" | "check" | "typecheck" | "tsc" | "verify" | "vet")
    })
}
