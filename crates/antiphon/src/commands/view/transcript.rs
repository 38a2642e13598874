//! `view transcript`: the conversation with an agent, turn by turn.

use std::path::PathBuf;

use antiphon_library::root_of;
use antiphon_model::{AgentIx, EventIx, Zone};
use antiphon_views::{
    Base, CallEdit, CallStatus, Conversation, FileStatus, Step, StepCall, StepKind, transcript,
};
use clap::{Args, ValueEnum};

use crate::commands::changes::diff_style;
use crate::failure::Outcome;
use crate::opened::Opened;
use crate::range::zone;
use crate::terminal::{self, Page, Style, clip, count, duration, product, size};

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  antiphon view transcript latest
  antiphon view transcript latest --tools none       what was said, without the work
  antiphon view transcript latest --at 0f0e          from a message on
  antiphon view transcript latest --agent reviewer   what a sub-agent did")]
pub(crate) struct TranscriptArgs {
    /// The session
    session: PathBuf,
    /// The agent, by name or id; optional if one agent created all the others
    #[arg(long)]
    agent: Option<String>,
    /// Begin at this message
    #[arg(long, value_name = "MESSAGE")]
    at: Option<String>,
    /// How much to show of tool calls
    #[arg(long, value_enum, default_value_t)]
    tools: Tools,
    /// Fold nothing
    #[arg(long)]
    full: bool,
    /// Show the ids of messages
    #[arg(long)]
    ids: bool,
    /// Show times in UTC instead of local time
    #[arg(long)]
    utc: bool,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

/// How much is shown of tool calls.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Tools {
    /// Nothing
    None,
    /// A line for each call, with its diff or a few lines of output
    #[default]
    Short,
    /// The output too
    Full,
}

pub(crate) fn run(args: &TranscriptArgs) -> anyhow::Result<Outcome> {
    let opened = Opened::read(&args.session)?;
    let from = args.at.as_deref().map(|id| opened.event(id)).transpose()?;
    let agent = chosen(&opened, args.agent.as_deref(), from)?;
    if args.json {
        let lines: Vec<_> = transcript(&opened.reading(), agent)?
            .into_iter()
            .filter(|(entry, _)| from.is_none_or(|from| entry.ix() >= from))
            .map(|(_, line)| line)
            .collect();
        terminal::json(&lines)?;
        return Ok(opened.outcome());
    }
    let root = root_of(opened.session.info().cwd.as_deref());
    let conversation = Conversation::new(opened.reading(), agent, root.as_deref());
    let mut reader = Reader {
        page: Page::new(),
        name: name(&opened, agent),
        zone: zone(args.utc),
        tools: args.tools,
        is_full: args.full,
        has_ids: args.ids,
        last: None,
        last_kind: None,
        day: String::new(),
    };
    for step in conversation.steps(from) {
        reader.step(&step?)?;
    }
    reader.page.finish()?;
    Ok(opened.outcome())
}

/// The agent that is named, or in whose transcript the first message is, or the main one.
fn chosen(opened: &Opened, named: Option<&str>, from: Option<EventIx>) -> anyhow::Result<AgentIx> {
    let of_message = from.and_then(|event| opened.session.entry(event).agent());
    match (named, of_message) {
        (None, Some(agent)) => Ok(agent),
        (named, _) => opened.agent_or_root(named),
    }
}

/// What the agent is called: by its own name, or by that of the program whose session it is.
pub(super) fn name(opened: &Opened, agent: AgentIx) -> String {
    let own = opened.session.agent(agent).own_name();
    let product = Some(product(opened.format)).filter(|product| *product != opened.format);
    own.or(product).unwrap_or_else(|| opened.session.agent_id(agent)).to_owned()
}

/// Prints a conversation, step by step.
struct Reader {
    page: Page,
    /// What the agent is called.
    name: String,
    zone: Zone,
    tools: Tools,
    is_full: bool,
    has_ids: bool,
    /// Who spoke last: a heading is not repeated.
    last: Option<String>,
    /// What the last step was: thoughts, calls and answers stand apart.
    last_kind: Option<StepKind>,
    /// The last day that was named.
    day: String,
}

/// So many lines are shown of a text that is folded.
const PROMPT_LINES: usize = 60;
const THINKING_LINES: usize = 12;
const OUTPUT_LINES: usize = 4;
const ERROR_LINES: usize = 12;
const DIFF_LINES: usize = 40;

const INDENT: usize = 2;

impl Reader {
    fn step(&mut self, step: &Step) -> anyhow::Result<()> {
        let text = step.text.as_str();
        match step.kind {
            StepKind::Prompt => {
                self.heading("you", Style::Head, step)?;
                self.text(Style::Plain, text, PROMPT_LINES)
            }
            StepKind::Message => {
                let from = step.from.clone().unwrap_or_default();
                self.heading(&from, Style::Agent(2), step)?;
                self.text(Style::Plain, text, PROMPT_LINES)
            }
            StepKind::Notice | StepKind::Context => {
                if self.tools == Tools::None {
                    return Ok(());
                }
                let what = if step.kind == StepKind::Context { "context" } else { "system" };
                self.heading(what, Style::Faint, step)?;
                let text = if step.kind == StepKind::Context { text } else { text.trim() };
                self.text(Style::Faint, text, if self.tools == Tools::Full { 20 } else { 2 })
            }
            StepKind::Thinking => {
                if self.tools == Tools::None {
                    return Ok(());
                }
                self.agent(step)?;
                self.text(Style::Faint, text, THINKING_LINES)
            }
            StepKind::Answer => {
                self.agent(step)?;
                self.text(Style::Plain, text, usize::MAX)
            }
            StepKind::Call => match &step.call {
                Some(call) if self.tools != Tools::None => {
                    self.agent(step)?;
                    self.call(text, call)
                }
                Some(_) | None => Ok(()),
            },
        }
    }

    fn agent(&mut self, step: &Step) -> anyhow::Result<()> {
        let name = self.name.clone();
        self.heading(&name, Style::Name, step)
    }

    /// Says who speaks, when that changes; with ids, for each message.
    fn heading(&mut self, who: &str, style: Style, step: &Step) -> anyhow::Result<()> {
        let is_same = self.last.as_deref() == Some(who);
        let last_kind = self.last_kind.replace(step.kind);
        // Calls in a row are a list, and so are thoughts.
        let is_list = matches!(step.kind, StepKind::Call | StepKind::Thinking);
        let is_apart = last_kind != Some(step.kind) || !is_list;
        if is_same && !self.has_ids && step.kind != StepKind::Prompt {
            return if is_apart { self.page.end() } else { Ok(()) };
        }
        if self.last.is_some() {
            self.page.end()?;
        }
        self.last = Some(who.to_owned());
        self.page.add(style, who);
        if let Some(time) = step.timestamp.and_then(|at| self.zone.minute_name(at)) {
            let (day, clock) = time.split_once(' ').unwrap_or_default();
            let is_same_day = std::mem::replace(&mut self.day, day.to_owned()) == day;
            self.page.faint("  ").faint(if is_same_day { clock } else { &time });
        }
        if self.has_ids {
            self.page.faint(&format!("  {}", step.message_id));
        }
        self.page.end()
    }

    /// A text, folded where it is long.
    fn text(&mut self, style: Style, text: &str, most: usize) -> anyhow::Result<()> {
        let lines = self.page.lines(text.trim_matches('\n').trim_end(), INDENT);
        let most = if self.is_full { usize::MAX } else { most };
        // A note about one line takes a line.
        let shown = if lines.len() <= most.saturating_add(1) { lines.len() } else { most };
        for line in lines.iter().take(shown) {
            self.page.plain(if line.is_empty() { "" } else { "  " });
            self.page.add_line(style, line)?;
        }
        if shown < lines.len() {
            self.note(&format!("… {}", count(lines.len() - shown, "more line")))?;
        }
        Ok(())
    }

    fn note(&mut self, text: &str) -> anyhow::Result<()> {
        self.page.plain("  ").faint(text).end()
    }

    fn call(&mut self, subject: &str, call: &StepCall) -> anyhow::Result<()> {
        let (mark, style) = match call.status {
            CallStatus::Success => ("● ", Style::Good),
            CallStatus::Failed => ("✗ ", Style::Bad),
            CallStatus::Open => ("○ ", Style::Plain),
        };
        let took = call.duration_ms.filter(|&millis| millis >= 1000).map(duration);
        let took = took.map(|took| format!("  {took}")).unwrap_or_default();
        let fold = self.folded_output(call);
        let folded = fold.as_deref().map(|fold| format!("  {fold}")).unwrap_or_default();
        let used = 2 + mark.chars().count() + call.tool_name.chars().count() + 2;
        let after = took.chars().count() + folded.chars().count();
        let room = self.page.width.map_or(200, |width| width.saturating_sub(used + after).max(20));
        let is_whole = self.is_full || self.tools == Tools::Full;
        self.page.plain("  ").add(style, mark).add(Style::Call, &call.tool_name).plain("  ");
        if is_whole && subject.contains('\n') {
            self.page.faint(took.trim_start()).end()?;
            self.text(Style::Plain, subject, usize::MAX)?;
        } else {
            self.page.plain(&clip(subject, room)).faint(&took).faint(&folded).end()?;
        }
        for edit in &call.edits {
            self.edit(edit)?;
        }
        let output = call.output.trim_end();
        match call.status {
            CallStatus::Open => self.note("no result"),
            CallStatus::Failed => {
                let most = if is_whole { usize::MAX } else { ERROR_LINES };
                self.output(Style::Removed, output, most)
            }
            // What an edit says of itself is the diff.
            CallStatus::Success if !call.edits.is_empty() && !is_whole => Ok(()),
            CallStatus::Success if fold.is_some() => Ok(()),
            CallStatus::Success => self.output(Style::Faint, output, usize::MAX),
        }
    }

    /// How much output there is, if it is too long to be shown.
    fn folded_output(&self, call: &StepCall) -> Option<String> {
        let is_whole = self.is_full || self.tools == Tools::Full;
        if is_whole || call.status != CallStatus::Success || !call.edits.is_empty() {
            return None;
        }
        let output = call.output.trim();
        let lines = output.lines().count();
        let is_long = lines > OUTPUT_LINES || output.len() > OUTPUT_LINES * 200;
        let amount = || match lines {
            1 => size(output.len()),
            lines => count(lines, "line"),
        };
        is_long.then(|| format!("… {}", amount()))
    }

    fn output(&mut self, style: Style, output: &str, most: usize) -> anyhow::Result<()> {
        if output.trim().is_empty() {
            return Ok(());
        }
        let lines = self.page.lines(output.trim_matches('\n'), 4);
        let shown = if lines.len() <= most.saturating_add(1) { lines.len() } else { most };
        for line in lines.iter().take(shown) {
            self.page.plain("    ").add_line(style, line)?;
        }
        if shown < lines.len() {
            let more = count(lines.len() - shown, "more line");
            self.page.plain("    ").faint(&format!("… {more}")).end()?;
        }
        Ok(())
    }

    /// A diff without what git needs to apply it.
    fn edit(&mut self, edit: &CallEdit) -> anyhow::Result<()> {
        let CallEdit { path, status, added, removed, base, diff } = edit;
        self.page.plain("    ").plain(path);
        self.page.add(Style::Good, &format!("  +{added}"));
        self.page.add(Style::Removed, &format!(" -{removed}"));
        match status {
            FileStatus::Added => drop(self.page.faint("  new file")),
            FileStatus::Deleted => drop(self.page.faint("  deleted")),
            FileStatus::Renamed => drop(self.page.faint("  renamed")),
            FileStatus::Modified => {}
        }
        self.page.end()?;
        let begin = diff.find("\n@@").map_or(diff.len(), |at| at + 1);
        let lines = diff.get(begin..).unwrap_or_default().lines();
        // Of a part of a file, the numbers of its lines are not known.
        let lines: Vec<&str> =
            lines.filter(|line| *base == Base::Known || !line.starts_with("@@")).collect();
        let most = if self.is_full { usize::MAX } else { DIFF_LINES };
        let shown = if lines.len() <= most.saturating_add(1) { lines.len() } else { most };
        for line in lines.iter().take(shown) {
            self.page.plain("    ").add_line(diff_style(line), line)?;
        }
        if shown < lines.len() {
            let more = count(lines.len() - shown, "more line");
            self.page.plain("    ").faint(&format!("… {more}")).end()?;
        }
        Ok(())
    }
}
