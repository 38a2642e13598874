//! The tools of a session, by name. A name that is taken gets the server's before it; characters
//! that services do not take in a name are replaced.

use std::rc::Rc;

use super::{Tool, ToolSpec};
use crate::request::tool_name;

/// The tools that there are.
#[derive(Debug, Default)]
pub(crate) struct Toolbox {
    tools: Vec<(ToolSpec, Rc<dyn Tool>)>,
}

impl Toolbox {
    pub(crate) fn new(tools: impl IntoIterator<Item = Rc<dyn Tool>>) -> Self {
        let mut toolbox = Self::default();
        for tool in tools {
            toolbox.add(tool);
        }
        toolbox
    }

    fn add(&mut self, tool: Rc<dyn Tool>) {
        let mut spec = tool.spec();
        spec.name = tool_name(&spec.name);
        if let Some(origin) = tool.origin().filter(|_| self.find(&spec.name).is_some()) {
            spec.name = format!("{origin}_{}", spec.name);
        }
        spec.name = tool_name(&spec.name);
        // Two servers may have one name, and one tool twice.
        let plain = spec.name.clone();
        let mut number = 1;
        while self.find(&spec.name).is_some() {
            number += 1;
            spec.name = format!("{plain}_{number}");
        }
        self.tools.push((spec, tool));
    }

    pub(crate) fn find(&self, name: &str) -> Option<&Rc<dyn Tool>> {
        let mut named = self.tools.iter().filter(|(spec, _)| spec.name == name);
        named.next().map(|(_, tool)| tool)
    }

    pub(crate) fn specs(&self) -> impl Iterator<Item = &ToolSpec> {
        self.tools.iter().map(|(spec, _)| spec)
    }
}
