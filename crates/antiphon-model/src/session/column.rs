//! Columns that waste little memory: a session of a million events must stay small.

/// Pushes, growing by a quarter instead of doubling: at most 1.25 times the necessary memory is
/// used.
pub(super) fn push_tight<T>(column: &mut Vec<T>, value: T) {
    if column.len() == column.capacity() {
        column.reserve_exact((column.len() / 4).max(16));
    }
    column.push(value);
}

/// A column in which few events have a value. Values are pushed in the order of events.
#[derive(Debug, Clone)]
pub(super) struct Sparse<T>(Vec<(u32, T)>);

impl<T> Default for Sparse<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T> Sparse<T> {
    pub(super) fn push(&mut self, at: u32, value: T) {
        debug_assert!(self.0.last().is_none_or(|(last, _)| *last <= at), "pushed in order");
        push_tight(&mut self.0, (at, value));
    }

    pub(super) fn get(&self, at: u32) -> Option<&T> {
        self.all(at).next()
    }

    pub(super) fn all(&self, at: u32) -> impl Iterator<Item = &T> {
        let start = self.0.partition_point(|(other, _)| *other < at);
        let rest = self.0.get(start..).unwrap_or_default();
        rest.iter().take_while(move |(other, _)| *other == at).map(|(_, value)| value)
    }

    pub(super) fn heap_bytes(&self) -> usize {
        self.0.capacity() * size_of::<(u32, T)>()
    }
}
