//! Ids. In a log the ids of messages, agents and calls are arbitrary strings; inside a folded
//! session they are positions.

use std::fmt;

use serde::Serialize;

/// A string id in the log. One type each, so that a call is never mistaken for an agent.
macro_rules! string_id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
        #[serde(transparent)]
        pub struct $name(Box<str>);

        impl $name {
            pub fn new(id: impl Into<Box<str>>) -> Self {
                Self(id.into())
            }

            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
    };
}

string_id!(
    /// `message_id`: the first key of every line, unique in its session.
    MessageId
);
string_id!(
    /// `agent_id`: the agent whose transcript contains a message.
    AgentId
);
string_id!(
    /// The id of a tool call, chosen by the model that made it.
    CallId
);
string_id!(
    /// The id of a session, from its `session_started`, or the log's file name.
    SessionId
);

/// A position in one of a session's columns.
macro_rules! position {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name(pub(crate) u32);

        impl $name {
            pub fn index(self) -> usize {
                self.0 as usize
            }

            /// The position of the next element to be pushed, if there is room for it.
            #[allow(dead_code, reason = "agents take their position from their id's number")]
            pub(crate) fn next(len: usize) -> Option<Self> {
                u32::try_from(len).ok().filter(|&n| n < 1 << 30).map(Self)
            }
        }
    };
}

position!(
    /// The position of an event in the log: the only order there is.
    EventIx
);
position!(
    /// The position of an agent, in order of first mention.
    AgentIx
);
position!(
    /// The position of a tool call, in the order in which calls were made.
    CallIx
);
