//! The conversation.

use std::collections::BTreeMap;
use std::io::Write;

use antiphon_model::{AgentIx, EventIx};
use antiphon_views::{Step, StepKind};

use super::call::{push_call, push_call_end, push_parts};
use crate::answer::push_answer;
use crate::content::Part;
use crate::facts::Facts;
use crate::text::Clean;
use crate::walk::Writer;
use crate::{Page, PageError};

/// A prompt longer than this is folded behind its beginning.
const PROMPT_BYTES: usize = 4 << 10;
/// How much of a thought or of a program's notice is shown.
const ASIDE_BYTES: usize = 32 << 10;

/// Writes the steps of all agents.
pub(super) struct Steps<'p, 'a, 'w> {
    page: &'p Page<'a>,
    out: &'w mut dyn Write,
    /// What has not been written yet.
    text: String,
    /// For each open agent: whether its last step was said by it.
    spoke: Vec<bool>,
    has_steps: bool,
    /// Whether there are several agents that no other agent created.
    has_roots: bool,
    /// What each agent cost, together with those below it, by its id.
    costs: BTreeMap<&'p str, String>,
}

impl<'p, 'a, 'w> Steps<'p, 'a, 'w> {
    pub(super) fn new(page: &'p Page<'a>, out: &'w mut dyn Write, facts: &'p Facts) -> Self {
        let text = "<section class=\"conversation\" aria-label=\"Conversation\">\n".to_owned();
        let has_roots = facts.cost.tree.len() > 1;
        let costs = crate::facts::costs(&facts.cost.tree);
        Self { page, out, text, spoke: Vec::new(), has_steps: false, has_roots, costs }
    }

    pub(super) fn finish(mut self) -> Result<(), PageError> {
        if !self.has_steps {
            self.text.push_str("<p class=\"note\">Nothing was said in this session.</p>\n");
        }
        let page = self.page;
        let secrets = match page.is_redacted {
            true => "Secrets that could be recognised were removed.",
            false => "Secrets were <b>not</b> removed.",
        };
        let session = page.clean_line(page.session_id, 80);
        self.text.push_str("</section>\n<footer>Session <code>");
        session.push_html(&mut self.text);
        self.text.push_str(&format!(
            "</code>, written by Antiphon. {secrets} Long outputs are shortened; what was recorded \
             is in the session itself.</footer>\n</main>\n</body>\n</html>\n"
        ));
        self.flush()
    }

    fn flush(&mut self) -> Result<(), PageError> {
        self.out.write_all(self.text.as_bytes())?;
        self.text.clear();
        Ok(())
    }

    fn said(&mut self, agent: AgentIx, event: EventIx, class: &str, who: &Clean) {
        let page = self.page;
        let is_root = page.reading.session.agent(agent).parent.agent().is_none();
        let anchor = if is_root { format!(" id=\"m{}\"", event.index()) } else { String::new() };
        self.text.push_str(&format!("<div class=\"{class}\"{anchor}><p class=\"who\">"));
        who.push_html(&mut self.text);
        if let Some(at) = page.reading.session.entry(event).at() {
            self.text.push_str(&format!("<time>{}</time>", page.time(at)));
        }
        self.text.push_str("</p>\n");
    }

    /// What somebody said to an agent, in full; the rest of a long text is folded.
    fn prompt(
        &mut self,
        agent: AgentIx,
        step: &Step,
        class: &str,
        who: &Clean,
    ) -> Result<(), PageError> {
        self.said(agent, step.event, class, who);
        for part in self.parts(step)? {
            let Part::Text(text) = &part else {
                push_parts(&mut self.text, &[part]);
                continue;
            };
            let (head, rest) = text.split(PROMPT_BYTES);
            self.text.push_str("<div class=\"said\">");
            head.push_html(&mut self.text);
            self.text.push_str("</div>\n");
            if let Some(rest) = rest {
                let size = antiphon_views::size(rest.as_str().len());
                self.text.push_str("<details class=\"rest\"><summary>");
                self.text.push_str(&format!("The rest ({size})</summary><div class=\"said\">"));
                rest.push_html(&mut self.text);
                self.text.push_str("</div></details>\n");
            }
        }
        self.text.push_str("</div>\n");
        if let Some(spoke) = self.spoke.last_mut() {
            *spoke = false;
        }
        Ok(())
    }

    fn parts(&self, step: &Step) -> Result<Vec<Part>, PageError> {
        let entry = self.page.reading.session.entry(step.event);
        Ok(self.page.parts_of(&step.text, [entry].into_iter())?)
    }

    /// Writes the name of an agent once above all that it says and does in a row.
    fn turn(&mut self, agent: AgentIx, event: EventIx) {
        if !std::mem::replace(self.spoke.last_mut().unwrap_or(&mut false), true) {
            let name = self.name(agent);
            self.said(agent, event, "turn", &name);
            self.text.push_str("</div>\n");
        }
    }

    fn answer(&mut self, step: &Step) -> Result<(), PageError> {
        let parts = self.parts(step)?;
        self.text.push_str("<div class=\"answer\">");
        for part in parts {
            match part {
                Part::Text(text) => push_answer(&mut self.text, &text),
                picture @ Part::Picture(_) => push_parts(&mut self.text, &[picture]),
            }
        }
        self.text.push_str("</div>\n");
        Ok(())
    }

    /// Something beside the conversation, folded.
    fn aside(&mut self, class: &str, word: &str, text: &Clean) {
        if text.is_empty() {
            return;
        }
        self.text.push_str(&format!("<details class=\"aside {class}\"><summary><span class=\"tool\">{word}</span> <span class=\"what\">"));
        text.line(140).push_html(&mut self.text);
        self.text.push_str("</span></summary><div class=\"said\">");
        text.clone().shortened(ASIDE_BYTES).push_html(&mut self.text);
        self.text.push_str("</div></details>\n");
    }

    fn name(&self, agent: AgentIx) -> Clean {
        let page = self.page;
        let session = page.reading.session;
        let is_root = session.agent(agent).parent.agent().is_none();
        match session.agent(agent).own_name() {
            Some(name) => page.clean_line(name, 80),
            None if is_root && !self.has_roots => page.clean_line(page.product, 80),
            None => page.clean_line(session.agent_name(agent), 80),
        }
    }
}

impl Writer for Steps<'_, '_, '_> {
    fn begin_agent(&mut self, agent: AgentIx, depth: usize) -> Result<(), PageError> {
        let page = self.page;
        if depth > 0 {
            self.text.push_str(
                "<details class=\"agent\"><summary><span class=\"tool\">Agent</span> <b>",
            );
            self.name(agent).push_html(&mut self.text);
            self.text.push_str("</b>");
            let id = page.reading.session.agent_id(agent);
            if let Some(cost) = self.costs.get(id) {
                self.text.push_str(&format!(" <span class=\"side\">{cost}</span>"));
            }
            self.text.push_str("</summary>\n");
        } else if self.has_roots {
            self.text.push_str("<h2 class=\"speaker\">");
            self.name(agent).push_html(&mut self.text);
            self.text.push_str("</h2>\n");
        }
        self.spoke.push(false);
        Ok(())
    }

    fn step(&mut self, agent: AgentIx, step: &Step, creates: usize) -> Result<(), PageError> {
        let page = self.page;
        let session = page.reading.session;
        self.has_steps = true;
        match step.kind {
            StepKind::Prompt => {
                let is_root = session.agent(agent).parent.agent().is_none();
                let who = page.clean(if is_root { "User" } else { "Task" });
                self.prompt(agent, step, "prompt", &who)?;
            }
            StepKind::Message => {
                let who = page.clean_line(step.from.as_deref().unwrap_or("Agent"), 80);
                self.prompt(agent, step, "prompt message", &who)?;
            }
            StepKind::Answer => {
                self.turn(agent, step.event);
                self.answer(step)?;
            }
            StepKind::Thinking => {
                self.turn(agent, step.event);
                self.aside("thinking", "Thinking", &page.clean(&step.text));
            }
            StepKind::Notice => self.aside("notice", "Program", &page.clean(&step.text)),
            StepKind::Context => self.aside("notice", "Context", &page.clean(&step.text)),
            StepKind::Call => {
                self.turn(agent, step.event);
                if let Some(call) = &step.call {
                    let shown = page.call(call, &step.text)?;
                    push_call(&mut self.text, &shown, call.ix, creates);
                }
            }
        }
        self.flush()
    }

    fn end_call(&mut self) -> Result<(), PageError> {
        push_call_end(&mut self.text);
        self.flush()
    }

    fn end_agent(&mut self, depth: usize) -> Result<(), PageError> {
        self.spoke.pop();
        if depth > 0 {
            self.text.push_str("</details>\n");
        }
        self.flush()
    }
}
