//! Makes a value fit an interface, as far as that is possible without inventing anything.
//!
//! A word that is not listed is replaced by the closest listed one; an optional member that does
//! not fit is removed. Both are returned with their pointers, so that nothing is lost. A required
//! member that is missing, or has another type, cannot be repaired here.

use serde_json::{Map, Value};

use super::{Shape, Words, fits};

/// A value that did not fit, and where it was.
#[derive(Debug, PartialEq)]
pub(crate) struct Misfit {
    pub(crate) pointer: String,
    pub(crate) value: Value,
    /// Whether another value has replaced it.
    pub(crate) is_replaced: bool,
}

/// Makes `value` fit the shape and returns whether it does now. What cannot be repaired is left as
/// it is.
pub(crate) fn conform(
    value: &mut Value,
    shape: &'static Shape,
    pointer: &str,
    misfits: &mut Vec<Misfit>,
) -> bool {
    match shape {
        Shape::Any | Shape::Text | Shape::Number | Shape::Flag => fits(value, shape),
        Shape::Words(words) => word(value, words, pointer, misfits),
        Shape::List(inner) => {
            let Some(items) = value.as_array_mut() else { return false };
            // No early exit: every shape is applied, even after one that cannot be satisfied.
            let mut is_right = true;
            for (at, item) in items.iter_mut().enumerate() {
                is_right &= conform(item, inner, &format!("{pointer}/{at}"), misfits);
            }
            is_right
        }
        Shape::Map(inner) => {
            let Some(members) = value.as_object_mut() else { return false };
            members.values().all(|it| fits(it, inner))
        }
        Shape::Object(members) => {
            let Some(object) = value.as_object_mut() else { return false };
            let mut is_right = true;
            for member in *members {
                let path = format!("{pointer}/{}", member.name);
                let before = misfits.len();
                let is_there = match object.get_mut(member.name) {
                    Some(inner) => conform(inner, &member.shape, &path, misfits),
                    None => !member.is_required,
                };
                if !is_there && !member.is_required {
                    leave_out(object, member.name, path, before, misfits);
                } else {
                    is_right &= is_there;
                }
            }
            is_right
        }
        Shape::Either(shapes) => {
            if fits(value, shape) {
                return true;
            }
            for shape in *shapes {
                let mut mended = value.clone();
                let mut found = Vec::new();
                if conform(&mut mended, shape, pointer, &mut found) {
                    *value = mended;
                    misfits.append(&mut found);
                    return true;
                }
            }
            false
        }
        Shape::All(shapes) => {
            let mut is_right = true;
            for shape in *shapes {
                is_right &= conform(value, shape, pointer, misfits);
            }
            is_right
        }
    }
}

fn word(value: &mut Value, words: &Words, pointer: &str, misfits: &mut Vec<Misfit>) -> bool {
    let Some(text) = value.as_str() else { return false };
    if words.listed.contains(&text) {
        return true;
    }
    let Some(nearest) = (words.nearest)(text) else { return false };
    let other = std::mem::replace(value, nearest.into());
    misfits.push(Misfit { pointer: pointer.to_owned(), value: other, is_replaced: true });
    true
}

/// Removes a member. The changes made within it, which are the misfits from `before` on, are undone
/// first, so that the original is kept. A `null` carries no information and is not kept.
fn leave_out(
    object: &mut Map<String, Value>,
    name: &str,
    pointer: String,
    before: usize,
    misfits: &mut Vec<Misfit>,
) {
    let Some(mut value) = object.remove(name) else { return };
    for misfit in misfits.drain(before..) {
        if let Some(inner) = misfit.pointer.strip_prefix(&pointer) {
            restore(&mut value, inner, misfit.value);
        }
    }
    if !value.is_null() {
        misfits.push(Misfit { pointer, value, is_replaced: false });
    }
}

/// Puts the original value back at a pointer within `value`.
fn restore(value: &mut Value, pointer: &str, original: Value) {
    let (above, name) = pointer.rsplit_once('/').unwrap_or(("", pointer));
    match value.pointer_mut(above) {
        Some(Value::Object(members)) => {
            members.insert(name.to_owned(), original);
        }
        Some(Value::Array(items)) => {
            if let Some(item) = name.parse::<usize>().ok().and_then(|at| items.get_mut(at)) {
                *item = original;
            }
        }
        _ => {}
    }
}
