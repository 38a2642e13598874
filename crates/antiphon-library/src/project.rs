//! The project that a person names: `.` is the repository around the current folder.

use std::path::{Component, Path, PathBuf};

use antiphon_catalog::ProjectQuery;

use crate::Environment;

/// The projects that `text` means. `.` and other relative paths that say so, and absolute paths of
/// folders, mean the repository around that folder; any other text is a part of a project's path.
pub fn project_query(text: &str, environment: &Environment) -> ProjectQuery {
    let path = Path::new(text);
    let starts_here =
        matches!(path.components().next(), Some(Component::CurDir | Component::ParentDir));
    let is_whole_path = path.is_absolute() && path.is_dir();
    if !starts_here && !is_whole_path {
        return ProjectQuery::part(text);
    }
    let here = environment.current_folder.as_deref().unwrap_or(Path::new(""));
    let folder = here.join(path);
    // Agents record the folder as the system names it, without links and dots.
    let folder = folder.canonicalize().unwrap_or(folder);
    // A folder that is named in full means itself.
    let root = if starts_here { repository_around(&folder) } else { folder };
    ProjectQuery::Folder(root.to_string_lossy().into_owned())
}

/// The root of the repository that contains `folder`; without one, the folder itself.
pub fn repository_around(folder: &Path) -> PathBuf {
    let root = folder.ancestors().find(|it| it.join(".git").exists());
    root.unwrap_or(folder).to_owned()
}
