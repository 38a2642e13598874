//! Which projects are meant: a part of a folder's name, or a folder and all below it.

/// The projects that a person asks for. A project is the folder that a session worked in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ProjectQuery {
    /// Folders whose path contains this; in lower case.
    Part(String),
    /// This folder, and those below it; no other folder whose name begins alike.
    Folder(String),
}

impl ProjectQuery {
    pub fn part(text: &str) -> Self {
        Self::Part(text.to_lowercase())
    }

    /// Whether a session that worked in `folder` is meant.
    pub fn matches(&self, folder: &str) -> bool {
        match self {
            Self::Part(part) => folder.to_lowercase().contains(part),
            Self::Folder(root) => {
                let root = root.trim_end_matches(is_separator);
                let below = folder.strip_prefix(root);
                below.is_some_and(|below| below.is_empty() || below.starts_with(is_separator))
            }
        }
    }
}

/// A session of another system may be read here.
fn is_separator(c: char) -> bool {
    matches!(c, '/' | '\\')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_means_what_is_in_it_and_no_neighbour_with_a_like_name() {
        let shop = ProjectQuery::Folder("/code/shop".to_owned());
        let folders = ["/code/shop", "/code/shop/", "/code/shop/web", "/code/shop-old", "/code"];
        assert_eq!(folders.map(|it| shop.matches(it)), [true, true, true, false, false]);
        assert!(ProjectQuery::Folder("/".to_owned()).matches("/code"));
        assert!(ProjectQuery::part("Shop").matches("/code/SHOP-old"));
    }
}
