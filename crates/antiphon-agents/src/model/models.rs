//! The models of a session: each is made when somebody asks it first.

use std::collections::BTreeMap;
use std::rc::Rc;

use super::anthropic::Anthropic;
use super::endpoint::Endpoints;
use super::openai::OpenAi;
use super::{Model, ModelError, ModelName, Script};

/// The models that a session may ask.
#[derive(Debug, Default)]
pub struct Models {
    endpoints: Endpoints,
    made: BTreeMap<String, Rc<dyn Model>>,
    /// What stands above every model that a cast or a log names.
    above_all: Option<String>,
}

impl Models {
    pub fn new(endpoints: Endpoints) -> Self {
        Self { endpoints, ..Self::default() }
    }

    /// Adds a model of one's own, or one that takes more than a name to make.
    pub fn insert(&mut self, name: impl Into<String>, model: Rc<dyn Model>) {
        self.made.insert(name.into(), model);
    }

    /// Asks this model for everybody.
    pub fn set_above_all(&mut self, name: impl Into<String>) {
        self.above_all = Some(name.into());
    }

    pub fn above_all(&self) -> Option<&str> {
        self.above_all.as_deref()
    }

    /// Whether a model was added under that name.
    pub(crate) fn is_known(&self, name: &str) -> bool {
        self.made.contains_key(name)
    }

    /// The model of that name.
    pub fn get(&mut self, name: &str) -> Result<Rc<dyn Model>, ModelError> {
        if let Some(model) = self.made.get(name) {
            return Ok(Rc::clone(model));
        }
        let failed = |message: String| ModelError::for_good(message);
        let parsed = ModelName::parse(name).map_err(|error| failed(error.to_string()))?;
        let model: Rc<dyn Model> = match parsed {
            ModelName::OpenAi(model) => Rc::new(OpenAi::new(model, self.endpoints.openai.clone())),
            ModelName::Anthropic(model) => {
                Rc::new(Anthropic::new(model, self.endpoints.anthropic.clone()))
            }
            ModelName::Script(path) => {
                Rc::new(Script::read(&path).map_err(|error| failed(whole(&error)))?)
            }
            ModelName::BundledScript(cast) => {
                let script = Script::parse(cast.script, &format!("{}.jsonl", cast.name));
                Rc::new(script.map_err(|error| failed(whole(&error)))?)
            }
            ModelName::Replay(session) => {
                return Err(failed(format!("the recording `{session}` was not opened")));
            }
        };
        self.made.insert(name.to_owned(), Rc::clone(&model));
        Ok(model)
    }
}

/// An error with what caused it, in one line.
fn whole(error: &dyn std::error::Error) -> String {
    let causes = std::iter::successors(Some(error), |error| error.source());
    causes.map(ToString::to_string).collect::<Vec<_>>().join(": ")
}
