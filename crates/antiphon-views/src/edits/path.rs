//! Paths within a project.

/// The path of a file within a project: `path` as a call gave it, in the folder `cwd`, without
/// `root`. A path outside of the project stays absolute.
pub fn relative_path(path: &str, cwd: Option<&str>, root: Option<&str>) -> String {
    let is_absolute =
        path.starts_with('/') || path.get(1..3).is_some_and(|it| it == ":\\" || it == ":/");
    let whole = match cwd {
        Some(cwd) if !is_absolute => format!("{cwd}/{path}"),
        Some(_) | None => path.to_owned(),
    };
    let whole = normal(&whole);
    let root = root.map(normal);
    let below = root.as_deref().and_then(|root| whole.strip_prefix(root));
    match below.and_then(|below| below.strip_prefix('/')) {
        Some(below) if !below.is_empty() => below.to_owned(),
        Some(_) | None => whole,
    }
}

/// With `/` between names, and without `.`, `..` and empty names.
fn normal(path: &str) -> String {
    let path = path.replace('\\', "/");
    let mut names: Vec<&str> = Vec::new();
    for name in path.split('/') {
        match name {
            "" | "." => {}
            ".." => drop(names.pop()),
            name => names.push(name),
        }
    }
    let start = if path.starts_with('/') { "/" } else { "" };
    format!("{start}{}", names.join("/"))
}
