//! Interned strings: ids and names, each with a small number.

use hashbrown::{DefaultHashBuilder, HashTable};
use std::hash::BuildHasher;

use super::column::push_tight;
use super::numbered::Numbered;

/// The number of a string in its [`Strings`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct StrIx(pub(super) u32);

/// An append-only set of strings in one allocation.
#[derive(Debug, Default, Clone)]
pub(super) struct Strings {
    text: String,
    /// Where each string ends; it begins where the one before ends.
    ends: Vec<u32>,
    table: HashTable<u32>,
    /// Used instead of the table for numbered ids.
    numbered: Numbered,
    hasher: DefaultHashBuilder,
}

impl Strings {
    /// The number of `string`, new or known; `None` when 4 GiB of strings are full.
    pub(super) fn intern(&mut self, string: &str) -> Option<StrIx> {
        if let Some(number) = self.numbered.number(string) {
            if let Some(known) = self.numbered.get(number) {
                return Some(StrIx(known));
            }
            let new = self.push(string)?;
            self.numbered.insert(number, new.0);
            return Some(new);
        }
        let hash = self.hasher.hash_one(string);
        if let Some(known) = self.find(hash, string) {
            return Some(known);
        }
        let new = self.push(string)?;
        let Self { text, ends, table, hasher, .. } = self;
        table.insert_unique(hash, new.0, |&other| hasher.hash_one(slice(text, ends, other)));
        Some(new)
    }

    /// Adds a string that is not known.
    fn push(&mut self, string: &str) -> Option<StrIx> {
        let end = u32::try_from(self.text.len() + string.len()).ok()?;
        let number = u32::try_from(self.ends.len()).ok()?;
        if self.text.capacity() - self.text.len() < string.len() {
            self.text.reserve_exact(string.len() + self.text.len() / 4);
        }
        self.text.push_str(string);
        push_tight(&mut self.ends, end);
        Some(StrIx(number))
    }

    pub(super) fn known(&self, string: &str) -> Option<StrIx> {
        match self.numbered.known(string) {
            Some(number) => self.numbered.get(number).map(StrIx),
            None => self.find(self.hasher.hash_one(string), string),
        }
    }

    pub(super) fn get(&self, StrIx(number): StrIx) -> &str {
        slice(&self.text, &self.ends, number)
    }

    pub(super) fn heap_bytes(&self) -> usize {
        // The table has one control byte for each slot.
        let table = self.table.capacity() * 8 / 7 * 5;
        self.text.capacity() + self.ends.capacity() * 4 + table + self.numbered.heap_bytes()
    }

    fn find(&self, hash: u64, string: &str) -> Option<StrIx> {
        self.table
            .find(hash, |&number| slice(&self.text, &self.ends, number) == string)
            .map(|&number| StrIx(number))
    }
}

fn slice<'a>(text: &'a str, ends: &[u32], number: u32) -> &'a str {
    let end = ends.get(number as usize).copied().unwrap_or_default() as usize;
    let start = match number {
        0 => 0,
        _ => ends.get(number as usize - 1).copied().unwrap_or_default() as usize,
    };
    text.get(start..end).unwrap_or_default()
}
