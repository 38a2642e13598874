//! `antiphon demo`: the first thing a newcomer runs.

use std::path::PathBuf;

use antiphon_journal::{Fold, read_bytes, regular};
use antiphon_model::{MemoryBodies, Session};
use antiphon_views::{DialogFilter, Prices, Reading, cost, dialog, flow, perspective, svg, tree};
use clap::Args;

use super::view;
use crate::failure::Outcome;
use crate::terminal::{Page, Style};

/// The bundled sessions, as this project recorded them.
const SAMPLES: &[(&str, &str)] = &[
    ("jack-and-jill", include_str!("../../../../samples/jack-and-jill.jsonl")),
    ("inner-monologue", include_str!("../../../../samples/inner-monologue.jsonl")),
    ("resource-hook", include_str!("../../../../samples/resource-hook.jsonl")),
    ("debate", include_str!("../../../../samples/debate.jsonl")),
];

#[derive(Debug, Args)]
pub(crate) struct DemoArgs {
    /// Where to write the picture (default: a temporary folder)
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

pub(crate) fn run(args: &DemoArgs) -> anyhow::Result<Outcome> {
    let mut page = Page::live();
    for (name, text) in SAMPLES {
        let sample = Sample::read(text)?;
        let reading = sample.reading();
        match *name {
            "jack-and-jill" => meeting(&mut page, &reading, name)?,
            "inner-monologue" => inner(&mut page, &reading, name)?,
            "resource-hook" => hook(&mut page, &reading, name)?,
            _ => bill(&mut page, &reading, name)?,
        }
    }
    let picture = picture(args)?;
    page.add(Style::Head, "A picture of it").end()?;
    page.plain("  ").add(Style::Call, &picture.display().to_string()).end()?;
    page.end()?;
    page.plain("Next: ").add(Style::Call, "antiphon show LOG").plain(" shows a log of yours; ");
    page.add(Style::Call, "antiphon append LOG").plain(" records one; ");
    page.add(Style::Call, "antiphon open samples/debate.jsonl").plain(" serves a sample.").end()?;
    page.finish()?;
    Ok(Outcome::Done)
}

struct Sample {
    session: Session,
    bodies: MemoryBodies,
}

impl Sample {
    fn read(text: &str) -> anyhow::Result<Self> {
        let mut fold = Fold::default();
        read_bytes(text.as_bytes(), &mut fold);
        let bodies = MemoryBodies::new(vec![text.as_bytes().to_vec()]);
        Ok(Self { session: fold.session, bodies })
    }

    fn reading(&self) -> Reading<'_> {
        Reading { session: &self.session, bodies: &self.bodies }
    }
}

fn heading(page: &mut Page, reading: &Reading<'_>, command: &str) -> anyhow::Result<()> {
    let title = reading.session.info().title.as_deref().unwrap_or_default();
    page.add(Style::Head, title).end()?;
    page.faint(&format!("$ antiphon view {command}")).end()?;
    page.end()
}

fn meeting(page: &mut Page, reading: &Reading<'_>, name: &str) -> anyhow::Result<()> {
    heading(page, reading, &format!("dialog samples/{name}.jsonl"))?;
    let names = |id: &str| {
        let agent = reading.session.find_agent(id);
        agent.map_or_else(|| id.to_owned(), |ix| reading.session.agent_name(ix).to_owned())
    };
    view::dialog::print(page, &dialog(reading, &DialogFilter::default())?, &names)?;
    page.faint(&format!("$ antiphon view tree samples/{name}.jsonl")).end()?;
    page.end()?;
    view::tree::print_nodes(page, &tree(reading.session, name).agents)?;
    page.end()
}

fn inner(page: &mut Page, reading: &Reading<'_>, name: &str) -> anyhow::Result<()> {
    let command = format!("perspective samples/{name}.jsonl --agent Jill --inner");
    heading(page, reading, &command)?;
    if let Ok(agent) = reading.agent("Jill") {
        let options = antiphon_views::PerspectiveOptions { agent, at: None, inner: true };
        view::perspective::print(page, &perspective(reading, &options)?)?;
    }
    page.end()
}

fn hook(page: &mut Page, reading: &Reading<'_>, name: &str) -> anyhow::Result<()> {
    heading(page, reading, &format!("flow samples/{name}.jsonl"))?;
    view::flow::print(page, &flow(reading)?)?;
    page.end()
}

fn bill(page: &mut Page, reading: &Reading<'_>, name: &str) -> anyhow::Result<()> {
    heading(page, reading, &format!("cost samples/{name}.jsonl"))?;
    view::cost::print(page, &cost(reading.session, name, &Prices::bundled()))?;
    page.end()
}

/// Draws the first sample. Nothing of the user's is touched: the file is new, in a folder for
/// temporary ones, unless another place was asked for.
fn picture(args: &DemoArgs) -> anyhow::Result<PathBuf> {
    let Some((name, text)) = SAMPLES.first() else {
        anyhow::bail!("there are no samples");
    };
    let sample = Sample::read(text)?;
    let title = sample.session.info().title.as_deref().unwrap_or(name);
    let drawn = svg(&sample.reading(), title)?;
    let path = match &args.output {
        Some(path) => path.clone(),
        None => {
            let folder = std::env::temp_dir().join(format!("antiphon-demo-{}", std::process::id()));
            std::fs::create_dir_all(&folder)?;
            folder.join(format!("{name}.svg"))
        }
    };
    regular::write(&path, drawn.as_bytes()).map_err(|error| {
        anyhow::Error::new(error).context(format!("cannot write `{}`", path.display()))
    })?;
    Ok(path)
}
