//! Agents are made, and words are delivered: each at one place, where it is logged.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::{Session, Stop};
use crate::agent::{Agent, AgentKey};
use crate::cast::Watch;
use crate::journal::{NewAgent, NewMessage};
use crate::model::{ModelError, ModelName};
use crate::tool::ToolError;
use crate::transcript::{Content, Entry};

/// An agent that is to be made.
#[derive(Debug)]
pub(crate) struct NewMember<'a> {
    pub(crate) name: &'a str,
    pub(crate) system: Option<&'a str>,
    /// Its own model; its parent's, if nothing is said.
    pub(crate) model: Option<&'a str>,
    pub(crate) tools: Option<Vec<String>>,
    pub(crate) watch: Option<Watch>,
    pub(crate) parent: Option<AgentKey>,
    /// The call that makes it.
    pub(crate) call_id: Option<&'a str>,
}

impl Session {
    /// Adds an entry to a transcript, and logs it: the one place where that is done.
    pub(super) fn enter(
        &mut self,
        agent: AgentKey,
        entry: Entry,
        new: &NewMessage<'_>,
    ) -> Result<(String, Entry), Stop> {
        let (id, entry) = self.journal.message(&self.state.agent(agent).id, entry, new)?;
        self.state.agent_mut(agent).transcript.push(entry.clone());
        Ok((id, entry))
    }

    /// Delivers words from one agent to another.
    pub(crate) fn inform(
        &mut self,
        from: AgentKey,
        to: AgentKey,
        words: &Arc<str>,
        utterance_ref: &str,
    ) -> Result<(), Stop> {
        let entry = Entry::User(Content::Text(Arc::clone(words)));
        let source = self.state.agent(from).id.clone();
        let utterance_ref = Some(utterance_ref);
        let new = NewMessage { source: Some(&source), utterance_ref, ..NewMessage::default() };
        self.enter(to, entry, &new).map(drop)
    }

    /// Writes words of an agent that others are about to hear.
    pub(crate) fn fragment(
        &mut self,
        agent: AgentKey,
        text: &str,
        cause: &str,
    ) -> Result<String, Stop> {
        Ok(self.journal.fragment(&self.state.agent(agent).id, text, cause)?)
    }

    /// Whether another agent may be made by this one.
    pub(crate) fn check_room(&self, parent: AgentKey) -> Result<(), ToolError> {
        let limits = &self.cast.limits;
        if self.state.agents().len() >= limits.agents {
            let words = format!("Limit reached: agents ({})", limits.agents);
            return Err(ToolError::failed(words));
        }
        if self.state.agent(parent).depth >= limits.depth {
            return Err(ToolError::failed(format!("Limit reached: depth ({})", limits.depth)));
        }
        Ok(())
    }

    /// Makes an agent: its creation and its prompt are logged.
    pub(crate) fn make(&mut self, new: NewMember<'_>) -> Result<AgentKey, Stop> {
        let above_all = self.models.above_all().map(str::to_owned);
        let of_parent = || self.state.agent(new.parent?).model.clone();
        let model = above_all.or_else(|| new.model.map(str::to_owned)).or_else(of_parent);
        let id = self.state.new_agent_id();
        let parent = new.parent.map(|parent| self.state.agent(parent).id.clone());
        let id = self.journal.agent(&NewAgent {
            id: &id,
            name: new.name,
            model: model.as_deref(),
            parent: parent.as_deref(),
            call_id: new.call_id,
            is_hook: new.watch.is_some(),
        })?;
        let depth = new.parent.map_or(0, |parent| self.state.agent(parent).depth + 1);
        let agent = self.state.add(Agent {
            id,
            name: new.name.to_owned(),
            parent: new.parent,
            depth,
            model,
            tools: new.tools,
            watch: new.watch,
            transcript: Vec::new(),
            children: BTreeMap::new(),
        });
        self.introduce(agent, new.system)?;
        Ok(agent)
    }

    /// Tells an agent who it is.
    fn introduce(&mut self, agent: AgentKey, system: Option<&str>) -> Result<(), Stop> {
        if let Some(system) = system.filter(|system| !system.trim().is_empty()) {
            self.enter(agent, Entry::System(system.into()), &NewMessage::default())?;
        }
        Ok(())
    }

    /// Makes whoever the cast has and the log has not, and completes whoever it has in part.
    pub(super) fn set_up(&mut self) -> Result<(), Stop> {
        let cast = self.cast.clone();
        let of_all = cast.model.as_deref();
        let root = NewMember {
            name: &cast.root.name,
            system: cast.root.system.as_deref(),
            model: cast.root.model.as_deref().or(of_all),
            tools: cast.root.tools.clone(),
            watch: None,
            parent: None,
            call_id: None,
        };
        let root = self.ensure(self.state.root, root)?;
        for member in &cast.agents {
            let known = self.state.agent(root).children.get(&member.name).copied();
            self.ensure(
                known,
                NewMember {
                    name: &member.name,
                    system: member.system.as_deref(),
                    model: member.model.as_deref().or(of_all),
                    tools: member.tools.clone(),
                    watch: None,
                    parent: Some(root),
                    call_id: None,
                },
            )?;
        }
        for hook in &cast.hooks {
            let known = self.state.agent(root).children.get(&hook.name).copied();
            self.ensure(
                known,
                NewMember {
                    name: &hook.name,
                    system: hook.system.as_deref(),
                    model: hook.model.as_deref().or(of_all),
                    tools: None,
                    watch: Some(hook.watch.clone()),
                    parent: Some(root),
                    call_id: None,
                },
            )?;
        }
        Ok(())
    }

    fn ensure(&mut self, known: Option<AgentKey>, new: NewMember<'_>) -> Result<AgentKey, Stop> {
        let Some(agent) = known else { return self.make(new) };
        // Its process may have ended between the two lines.
        if self.state.agent(agent).transcript.is_empty() {
            self.introduce(agent, new.system)?;
        }
        Ok(agent)
    }

    /// The name of the model that an agent is asked with.
    pub(super) fn model_of(&self, agent: AgentKey) -> Result<String, ModelError> {
        let own = self.state.agent(agent).model.as_deref();
        let Some(model) = self.models.above_all().or(own) else {
            return Err(ModelError::for_good("no model was chosen (--model, or a cast)"));
        };
        let leads_to_a_file = ModelName::parse(model).is_ok_and(|model| !model.is_harmless());
        if leads_to_a_file && !self.may_use(model) {
            let message = format!(
                "`{model}` stands in the log, and a file that a log names is not read: repeat it \
                 with --model or --cast"
            );
            return Err(ModelError::for_good(message));
        }
        Ok(model.to_owned())
    }
}
