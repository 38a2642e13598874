use super::*;

fn only_looks(line: &str) -> bool {
    Script::parse(line).only_looks()
}

#[test]
fn a_command_that_changes_nothing_only_looks() {
    for line in [
        "ls -la",
        "cat a.txt",
        "find . -type f -name '*.ts' | xargs wc -l",
        "rg 'a > b' src",
        "git status",
        "git -C /x log --oneline | head -5",
        "git --no-pager diff",
        "cd src && ls; pwd",
        "grep -r x . 2>/dev/null",
        "ls missing 2>&1 | tail -1",
        "RUST_LOG=debug cat x",
        "/usr/bin/head -1 x",
        "sed -n '1,20p' x # look",
        "node --version",
        "git --version",
        "timeout 5 ls",
        "git branch -a",
        "awk '{print $1}' x",
        "echo \"a; rm b\"",
    ] {
        assert!(only_looks(line), "{line}");
    }
}

#[test]
fn whatever_could_change_something_does_not() {
    for line in [
        "",
        "rm x",
        "ls && rm x",
        "ls & rm x",
        "ls\nrm x",
        "cat a > b",
        "cat a >> b",
        "cat a >| b",
        "cat a &> b",
        "cat <<EOF > b\nhello\nEOF",
        "echo $(rm x)",
        "echo \"$(rm x)\"",
        "echo `rm x`",
        "(rm x)",
        "diff <(rm x) y",
        "find . -name x -delete",
        "find . -exec rm {} +",
        "find . | xargs rm",
        "find . | xargs -n 1 rm",
        "sed -i s/a/b/ x",
        "sed -ni s/a/b/p x",
        "sort -o x x",
        "awk '{print > \"x\"}' y",
        "git commit -m x",
        "git branch new",
        "git branch -D old",
        "git stash",
        "git diff --output=x",
        "env rm x",
        "ls | tee x",
        "unknown",
    ] {
        assert!(!only_looks(line), "{line}");
    }
}

#[test]
fn words_are_cut_as_a_shell_cuts_them() {
    let words = |line: &str| Script::parse(line).commands;
    assert_eq!(
        words(r#"a 'b c' "d \" e" f\ g '' 2>/dev/null"#),
        [["a", "b c", "d \" e", "f g", ""]]
    );
    assert_eq!(words("a|b&&c||d;e\nf"), [["a"], ["b"], ["c"], ["d"], ["e"], ["f"]]);
    assert_eq!(words("a 'never ended"), [["a", "never ended"]]);
}

#[test]
fn tests_types_and_style_are_checks() {
    for line in [
        "cargo test -p x",
        "cd frontend && npx tsc --noEmit",
        "npm test",
        "npm run lint",
        "npm run type-check",
        "pnpm test:unit",
        "yarn -s test",
        "python -m pytest -q",
        "python manage.py test",
        "uv run pytest",
        "go vet ./...",
        "make check",
        "./gradlew test",
        "ruff check .",
        "cargo fmt --check",
        "CI=1 timeout 60 jest",
        "pytest > log 2>&1",
    ] {
        assert!(Script::parse(line).checks(), "{line}");
    }
    for line in
        ["cargo build", "npm install", "ls test", "cat check.rs", "git checkout x", "node x"]
    {
        assert!(!Script::parse(line).checks(), "{line}");
    }
}

#[test]
fn a_command_given_word_by_word_is_one_command() {
    let of = |words: &[&str]| Script::of_words(words.iter().map(|&word| word.into()).collect());
    assert!(of(&["ls", ";", "rm"]).only_looks(), "no shell cuts it");
    assert!(of(&["bash", "-lc", "ls | wc -l"]).only_looks());
    assert!(!of(&["bash", "-lc", "rm x"]).only_looks());
    assert!(!of(&["bash", "x.sh"]).only_looks());
}
