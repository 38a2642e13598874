//! Servers of tools: commands that speak MCP. A tool's result is a result like any other.

use std::rc::Rc;
use std::time::Duration;

use rmcp::model::{CallToolRequestParams, CallToolResult, ContentBlock};
use rmcp::service::RunningService;
use rmcp::transport::TokioChildProcess;
use rmcp::{RoleClient, ServiceExt};
use serde_json::Value;
use thiserror::Error;
use tokio::process::Command;
use tokio::time::timeout;

use crate::cast::Server;
use crate::tool::{Arguments, Calling, Context, Output, Tool, ToolError, ToolSpec};

/// How long a server may take to start and to name its tools.
const START: Duration = Duration::from_secs(60);
/// How long a call may take.
const CALL: Duration = Duration::from_secs(600);

#[derive(Debug, Error)]
#[error("the MCP server `{server}` {what}")]
pub struct McpError {
    server: String,
    what: String,
}

/// A server that runs. It ends with the last of its tools.
#[derive(Debug)]
struct Connection {
    server: String,
    service: RunningService<RoleClient, ()>,
}

/// A tool of a server.
#[derive(Debug)]
struct McpTool {
    connection: Rc<Connection>,
    /// What the server calls it.
    name: String,
    spec: ToolSpec,
}

/// Starts a server, and gives its tools.
pub async fn connect(server: &Server) -> Result<Vec<Rc<dyn Tool>>, McpError> {
    let failed = |what: String| McpError { server: server.name.clone(), what };
    let Some((program, arguments)) = server.command.split_first() else {
        return Err(failed("has no command".to_owned()));
    };
    let mut command = Command::new(program);
    command.args(arguments).kill_on_drop(true);
    // Ctrl-C at the terminal stops an answer, and not the servers.
    #[cfg(unix)]
    command.process_group(0);
    let process = TokioChildProcess::new(command)
        .map_err(|error| failed(format!("cannot be started: {error}")))?;
    let late = |_| failed(format!("did not answer within {} s", START.as_secs()));
    let service = timeout(START, ().serve(process)).await.map_err(late)?;
    let service = service.map_err(|error| failed(format!("cannot be used: {error}")))?;
    let listed = timeout(START, service.list_all_tools()).await.map_err(late)?;
    let listed = listed.map_err(|error| failed(format!("does not name its tools: {error}")))?;
    let connection = Rc::new(Connection { server: server.name.clone(), service });
    let tools = listed.into_iter().map(|tool| {
        let mut schema = (*tool.input_schema).clone();
        // Services insist on it; some servers leave it out.
        schema.insert("type".to_owned(), "object".into());
        let spec = ToolSpec {
            name: tool.name.to_string(),
            description: tool.description.as_deref().unwrap_or_default().to_owned(),
            schema: Value::Object(schema),
        };
        let connection = Rc::clone(&connection);
        Rc::new(McpTool { connection, name: tool.name.to_string(), spec }) as Rc<dyn Tool>
    });
    Ok(tools.collect())
}

impl Tool for McpTool {
    fn spec(&self) -> ToolSpec {
        self.spec.clone()
    }

    fn origin(&self) -> Option<&str> {
        Some(&self.connection.server)
    }

    fn call<'a>(&'a self, _: Context<'a>, arguments: Arguments) -> Calling<'a> {
        Box::pin(async move {
            let server = &self.connection.server;
            let mut params = CallToolRequestParams::new(self.name.clone());
            params.arguments = Some(arguments.into_map());
            let answer = timeout(CALL, self.connection.service.call_tool(params)).await;
            match answer {
                Ok(Ok(result)) => Ok(output(result)),
                Ok(Err(error)) => {
                    Err(ToolError::failed(format!("The MCP server `{server}` failed: {error}.")))
                }
                Err(_) => {
                    let seconds = CALL.as_secs();
                    let words = format!("The MCP server `{server}` said nothing for {seconds} s.");
                    Err(ToolError::failed(words))
                }
            }
        })
    }
}

/// What a server gave back, in words.
fn output(result: CallToolResult) -> Output {
    let words = |block: ContentBlock| match block {
        ContentBlock::Text(text) => text.text,
        ContentBlock::Image(_) => "[image]".to_owned(),
        ContentBlock::Audio(_) => "[audio]".to_owned(),
        ContentBlock::ResourceLink(link) => format!("[resource] {}", link.uri),
        ContentBlock::Resource(_) => "[resource]".to_owned(),
        // The protocol grows.
        _ => "[something else]".to_owned(),
    };
    let mut text = result.content.into_iter().map(words).collect::<Vec<_>>().join("\n");
    if let Some(structured) = result.structured_content.filter(|_| text.is_empty()) {
        text = structured.to_string();
    }
    Output { text, is_error: result.is_error.unwrap_or_default(), cause: Vec::new() }
}
