//! What a person chose for the screen: colours, and a pager.

use std::sync::OnceLock;

use clap::ValueEnum;

/// When output has colours.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Colour {
    /// On a terminal, unless NO_COLOR is set or TERM is dumb
    #[default]
    Auto,
    Always,
    Never,
}

impl Colour {
    pub(super) fn is_wanted(self, is_terminal: bool) -> bool {
        let is_dumb = || std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        let has_no_colour = || std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        match self {
            Self::Always => true,
            Self::Never => false,
            Self::Auto => is_terminal && !is_dumb() && !has_no_colour(),
        }
    }
}

/// What was chosen on the command line, once for the process.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Screen {
    pub(crate) colour: Colour,
    pub(crate) has_pager: bool,
}

static SCREEN: OnceLock<Screen> = OnceLock::new();

impl Screen {
    /// Sets what was chosen; later calls change nothing.
    pub(crate) fn choose(self) {
        let _ = SCREEN.set(self);
    }

    pub(super) fn chosen() -> Self {
        *SCREEN.get_or_init(|| Self { colour: Colour::Auto, has_pager: true })
    }
}
