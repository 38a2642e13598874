//! Which of our crates may depend on which.
//!
//! The crates below the joining ones know the model and not one another, so they build in parallel,
//! and a change in one rebuilds no other. The sources do not know who keeps what they open, and the
//! catalogue knows neither; the library joins both. Tests are exempt (dev-dependencies).

use super::{Finding, Source};

struct Wall {
    krate: &'static str,
    may_use: &'static [&'static str],
}

const WALLS: &[Wall] = &[
    Wall { krate: "antiphon-model", may_use: &[] },
    Wall { krate: "antiphon-documents", may_use: &["antiphon-model", "antiphon-views"] },
    Wall { krate: "antiphon-formats", may_use: &["antiphon-model"] },
    Wall { krate: "antiphon-journal", may_use: &["antiphon-model"] },
    // Secrets are removed by a function that it is given.
    Wall { krate: "antiphon-pages", may_use: &["antiphon-model", "antiphon-views"] },
    Wall { krate: "antiphon-redact", may_use: &["antiphon-model"] },
    Wall { krate: "antiphon-views", may_use: &["antiphon-model"] },
    Wall {
        krate: "antiphon-sources",
        may_use: &["antiphon-model", "antiphon-formats", "antiphon-journal", "antiphon-redact"],
    },
    Wall { krate: "antiphon-catalog", may_use: &["antiphon-model", "antiphon-views"] },
    Wall {
        krate: "antiphon-library",
        may_use: &[
            "antiphon-catalog",
            "antiphon-formats",
            "antiphon-journal",
            "antiphon-model",
            "antiphon-redact",
            "antiphon-sources",
            "antiphon-views",
        ],
    },
    Wall {
        krate: "antiphon-mcp",
        may_use: &[
            "antiphon-catalog",
            "antiphon-journal",
            "antiphon-library",
            "antiphon-model",
            "antiphon-redact",
            "antiphon-sources",
            "antiphon-views",
        ],
    },
    // It joins everything that can be asked about sessions, and runs no agents.
    Wall {
        krate: "antiphon-server",
        may_use: &[
            "antiphon-catalog",
            "antiphon-documents",
            "antiphon-formats",
            "antiphon-journal",
            "antiphon-library",
            "antiphon-model",
            "antiphon-recorder",
            "antiphon-redact",
            "antiphon-sources",
            "antiphon-views",
        ],
    },
    // Where sessions are kept, only the binary tells it.
    Wall {
        krate: "antiphon-agents",
        may_use: &["antiphon-journal", "antiphon-model", "antiphon-views"],
    },
];

pub(super) fn check(file: &Source, findings: &mut Vec<Finding>) {
    let of_crate = |wall: &&Wall| {
        file.path.strip_prefix("crates/") == Some(&format!("{}/Cargo.toml", wall.krate))
    };
    let Some(wall) = WALLS.iter().find(of_crate) else {
        return;
    };
    for (line, name) in dependencies(file) {
        if name.starts_with("antiphon") && !wall.may_use.contains(&name) {
            let what = format!("{} depends on {name}", wall.krate);
            let instead = "move what they share into antiphon-model, or join them further up";
            findings.push(file.finding_on_line(line, what, instead));
        }
    }
}

/// The dependencies that a manifest names, except those of its tests.
fn dependencies(manifest: &Source) -> Vec<(usize, &str)> {
    let mut found = Vec::new();
    let mut table = Table::Other;
    for (number, line) in manifest.lines() {
        let line = line.trim();
        if let Some(header) = line.strip_prefix('[') {
            let header = header.split(']').next().unwrap_or_default();
            table = Table::of(header);
            if let Some((before, name)) = header.rsplit_once('.')
                && Table::of(before) == Table::Dependencies
            {
                found.push((number, unquoted(name)));
                table = Table::OneDependency;
            }
            continue;
        }
        match table {
            Table::Other => continue,
            Table::OneDependency => {}
            Table::Dependencies => {
                let key = line.split(['=', '.', ' ']).next().unwrap_or_default();
                found.push((number, unquoted(key)));
            }
        }
        // A renamed dependency names its package.
        if let Some((_, value)) = line.split_once("package") {
            found.extend(value.split('"').nth(1).map(|name| (number, name)));
        }
    }
    found
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Table {
    /// A row for each dependency.
    Dependencies,
    /// The rows of one dependency, whose name is in the header.
    OneDependency,
    Other,
}

impl Table {
    /// Recognises `dependencies`, `build-dependencies`, and both below `target.<which>`.
    fn of(header: &str) -> Self {
        match header.rsplit_once('.').map_or(header, |(_, last)| last) {
            "dependencies" | "build-dependencies" => Self::Dependencies,
            _ => Self::Other,
        }
    }
}

fn unquoted(key: &str) -> &str {
    key.trim().trim_matches(['"', '\''])
}
