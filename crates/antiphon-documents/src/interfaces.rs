//! The interfaces of the two standards, member by member, exactly as they were published.
//!
//! The types of this crate (`session.rs`, `multi.rs`) are for reading. They accept more than the
//! interfaces, because published documents differ from them. These tables describe what is written,
//! and what `validate --strict` requires. As in the interfaces, additional members are allowed
//! everywhere, and an optional member must not be `null`.

mod conform;
mod single;
mod team;

use serde_json::Value;

pub(crate) use conform::conform;
pub(crate) use team::nearest_role;

use crate::Standard;

/// The type of a value.
#[derive(Debug)]
pub(crate) enum Shape {
    /// Anything, `null` included.
    Any,
    Text,
    Number,
    Flag,
    Words(&'static Words),
    List(&'static Self),
    /// An object whose members all have the same shape.
    Map(&'static Self),
    Object(&'static [Member]),
    /// One of several shapes; the first that fits counts.
    Either(&'static [Self]),
    /// All of several shapes: an interface, and what another one adds to it.
    All(&'static [Self]),
}

/// The words that a standard lists for a member.
#[derive(Debug)]
pub(crate) struct Words {
    pub(crate) listed: &'static [&'static str],
    /// The listed word that is closest to another one; `None` where no replacement would be honest,
    /// as for a verdict.
    pub(crate) nearest: fn(&str) -> Option<&'static str>,
}

#[derive(Debug)]
pub(crate) struct Member {
    pub(crate) name: &'static str,
    pub(crate) shape: Shape,
    pub(crate) is_required: bool,
    /// The name of an equivalent member in a later version of the standard.
    pub(crate) later: Option<&'static str>,
}

impl Member {
    const fn required(name: &'static str, shape: Shape) -> Self {
        Self { name, shape, is_required: true, later: None }
    }

    const fn optional(name: &'static str, shape: Shape) -> Self {
        Self { name, shape, is_required: false, later: None }
    }

    const fn later(self, name: &'static str) -> Self {
        Self { name: self.name, shape: self.shape, is_required: true, later: Some(name) }
    }
}

/// The shape of a whole document.
pub(crate) fn of(standard: Standard) -> &'static Shape {
    match standard {
        Standard::Std001 => &single::SESSION,
        Standard::Std008 => &team::SESSION,
    }
}

/// The shape of a tool call.
pub(crate) fn call() -> &'static Shape {
    &single::CALL
}

/// The shape of a sub-session.
pub(crate) fn sub_session() -> &'static Shape {
    &team::SUB_SESSION
}

/// The shape of a message between agents.
pub(crate) fn message() -> &'static Shape {
    &team::MESSAGE
}

/// The shape of a sub-agent's output.
pub(crate) fn output() -> &'static Shape {
    &team::OUTPUT
}

/// The shape of a summary's rows, one for each agent.
pub(crate) fn agents() -> &'static Shape {
    &team::AGENTS
}

/// Whether a value has a shape, or can be made to have it.
pub(crate) fn can_fit(value: &Value, shape: &'static Shape) -> bool {
    fits(value, shape) || conform(&mut value.clone(), shape, "", &mut Vec::new())
}

/// Whether a value has exactly this shape.
pub(crate) fn fits(value: &Value, shape: &Shape) -> bool {
    match shape {
        Shape::Any => true,
        Shape::Text => value.is_string(),
        Shape::Number => value.is_number(),
        Shape::Flag => value.is_boolean(),
        Shape::Words(words) => value.as_str().is_some_and(|word| words.listed.contains(&word)),
        Shape::List(inner) => {
            value.as_array().is_some_and(|items| items.iter().all(|item| fits(item, inner)))
        }
        Shape::Map(inner) => {
            value.as_object().is_some_and(|members| members.values().all(|it| fits(it, inner)))
        }
        Shape::Object(members) => value.as_object().is_some_and(|object| {
            members.iter().all(|member| match object.get(member.name) {
                Some(value) => fits(value, &member.shape),
                None => !member.is_required,
            })
        }),
        Shape::Either(shapes) => shapes.iter().any(|shape| fits(value, shape)),
        Shape::All(shapes) => shapes.iter().all(|shape| fits(value, shape)),
    }
}
