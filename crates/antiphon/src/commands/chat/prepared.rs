//! What a session is made with: the cast, the models and the tools that the command line names.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use antiphon_agents::{
    Cast, Endpoints, ModelName, Models, Replay, Server, Tool, absolute_model, bundled, connect,
};
use anyhow::Context as _;

use super::ChatArgs;
use crate::failure::UserError;
use crate::opened::Opened;

/// The cast that `--cast` names, with what the other options say.
pub(super) fn cast(args: &ChatArgs) -> anyhow::Result<Option<Cast>> {
    let named = args.cast.as_deref().map(read).transpose()?;
    let is_new = args.resume.is_none() && args.fork.is_none();
    let Some(mut cast) = named.or_else(|| is_new.then(Cast::default)) else { return Ok(None) };
    if let Some(system) = &args.system {
        cast.root.system = Some(system.clone());
    }
    cast.title = args.title.clone().or(cast.title);
    cast.mcp.extend(servers(args)?);
    if let Some(model) = model(args)? {
        cast.model = Some(model);
    }
    if is_new && cast.models().next().is_none() {
        let error = UserError::usage("choose a model with --model, or a cast that names one");
        return Err(error
            .hint("`antiphon chat --cast debate` needs neither key nor network")
            .into());
    }
    Ok(Some(cast))
}

fn read(path: &Path) -> anyhow::Result<Cast> {
    let name = path.to_str().filter(|_| !path.exists());
    let read = match name.and_then(bundled) {
        Some(cast) => cast.cast(&current_folder()),
        None => Cast::read(path),
    };
    read.map_err(|error| {
        let whole = format!("{:#}", anyhow::Error::new(error));
        UserError::usage(whole)
            .hint("`antiphon chat --cast list` names those that come along")
            .into()
    })
}

fn current_folder() -> PathBuf {
    std::env::current_dir().unwrap_or_default()
}

/// The model that stands above all others.
pub(super) fn model(args: &ChatArgs) -> anyhow::Result<Option<String>> {
    let absolute = |model: &String| -> anyhow::Result<String> {
        ModelName::parse(model).map_err(|error| UserError::usage(error.to_string()))?;
        Ok(absolute_model(model, &current_folder()))
    };
    args.model.as_ref().map(absolute).transpose()
}

/// The servers that `--mcp` names.
pub(super) fn servers(args: &ChatArgs) -> anyhow::Result<Vec<Server>> {
    let server = |text: &String| {
        let words = shlex::split(text).filter(|words| !words.is_empty());
        let command = words.ok_or_else(|| {
            UserError::usage(format!("--mcp `{text}` is not a command: is a quote missing?"))
        })?;
        let program = command.first().map(Path::new).and_then(Path::file_stem);
        let name = program.unwrap_or_default().to_string_lossy().into_owned();
        Ok(Server { name, command })
    };
    args.mcp.iter().map(server).collect()
}

/// Starts the servers of the cast, or those of the command line.
pub(super) async fn tools(servers: &[Server]) -> anyhow::Result<Vec<Rc<dyn Tool>>> {
    let mut tools = Vec::new();
    for server in servers {
        tools.extend(connect(server).await?);
    }
    Ok(tools)
}

/// The models that may be asked; recordings are opened here.
pub(super) fn models(args: &ChatArgs, cast: Option<&Cast>) -> anyhow::Result<Models> {
    let variable =
        |name: &str| std::env::var_os(name).as_deref().and_then(OsStr::to_str).map(str::to_owned);
    let mut models = Models::new(Endpoints::new(
        variable("OPENAI_BASE_URL"),
        variable("OPENAI_API_KEY"),
        variable("ANTHROPIC_BASE_URL"),
        variable("ANTHROPIC_API_KEY"),
    ));
    let above_all = model(args)?;
    let of_cast = cast.into_iter().flat_map(Cast::models).map(str::to_owned);
    for name in of_cast.chain(above_all.clone()).collect::<Vec<_>>() {
        if let Ok(ModelName::Replay(session)) = ModelName::parse(&name) {
            let then = match &args.then {
                Some(then) => {
                    let then = absolute_model(then, &current_folder());
                    let model = models.get(&then);
                    Some((then, model.map_err(|error| UserError::usage(error.to_string()))?))
                }
                None => None,
            };
            let opened = Opened::read(Path::new(&session))?;
            let replay = Replay::of(&opened.reading(), then);
            let replay =
                replay.with_context(|| format!("cannot read the recording `{session}`"))?;
            models.insert(name, Rc::new(replay));
        }
    }
    if let Some(model) = above_all {
        models.set_above_all(model);
    }
    Ok(models)
}
