//! The many names of a model.

/// Providers that sell a model at its maker's price. Others have their own prices.
const PROVIDERS: &[&str] = &[
    "anthropic",
    "azure",
    "azure_ai",
    "bedrock",
    "converse",
    "dashscope",
    "deepseek",
    "gemini",
    "github-copilot",
    "github_copilot",
    "google",
    "minimax",
    "mistral",
    "mistralai",
    "models",
    "moonshot",
    "moonshot-ai",
    "moonshotai",
    "openai",
    "opencode",
    "openrouter",
    "qwen",
    "vertex_ai",
    "x-ai",
    "xai",
    "z-ai",
    "zai",
];

/// The regions in Bedrock's names of models.
const REGIONS: &[&str] = &["apac", "au", "ca", "eu", "global", "jp", "us", "us-gov"];

/// The names by which a table may know the model called `name`, the longest first: unchanged, then
/// without each provider before it, then without each date or marker after it.
pub(super) fn candidates(name: &str) -> Vec<&str> {
    let mut known = vec![name];
    let mut rest = name;
    while let Some(inner) = without_provider(rest) {
        rest = inner;
        known.push(rest);
    }
    if let Some(inner) = without_bedrock(rest) {
        rest = inner;
        known.push(rest);
    }
    while let Some(stem) = without_mark(rest) {
        rest = stem;
        known.push(rest);
    }
    known
}

/// `anthropic/claude-opus-4-1` without `anthropic/`.
fn without_provider(name: &str) -> Option<&str> {
    let (provider, rest) = name.split_once('/')?;
    PROVIDERS.contains(&provider).then_some(rest)
}

/// `us.anthropic.claude-opus-4-1-20250805-v1:0` without what Bedrock adds at both ends.
fn without_bedrock(name: &str) -> Option<&str> {
    let regional = name.split_once('.').filter(|(region, _)| REGIONS.contains(region));
    let model = regional.map_or(name, |(_, rest)| rest).strip_prefix("anthropic.")?;
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    let is_version = |text: &str| match text.split_once(':') {
        Some((version, revision)) => is_number(version) && is_number(revision),
        None => is_number(text),
    };
    let stem = model.rsplit_once("-v").filter(|(_, version)| is_version(version));
    Some(stem.map_or(model, |(stem, _)| stem))
}

/// The name without one date, `-latest`, or Claude Code's marker for the long context.
fn without_mark(name: &str) -> Option<&str> {
    let stem = ["[1m]", "-latest", "@latest", "@default"]
        .iter()
        .find_map(|mark| name.strip_suffix(mark))
        .or_else(|| without_tail(name, "-00000000"))
        .or_else(|| without_tail(name, "@00000000"))
        .or_else(|| without_tail(name, "-0000-00-00"))?;
    (!stem.is_empty()).then_some(stem)
}

/// The name without a suffix of that form, in which each `0` stands for a digit.
fn without_tail<'n>(name: &'n str, form: &str) -> Option<&'n str> {
    let (stem, tail) = name.split_at_checked(name.len().checked_sub(form.len())?)?;
    let fits = |(byte, form): (u8, u8)| match form {
        b'0' => byte.is_ascii_digit(),
        other => byte == other,
    };
    tail.bytes().zip(form.bytes()).all(fits).then_some(stem)
}
