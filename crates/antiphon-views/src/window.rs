//! How many tokens fit into the context of a model.

/// The window of a model, as its maker states it; `sent` is what a request has sent, which may show
/// that a larger window was used. `None` for an unknown model.
pub(crate) fn window(model: &str, sent: u64) -> Option<u64> {
    let model = model.to_ascii_lowercase();
    // Gateways put a provider before the name.
    let name = model.rsplit('/').next().unwrap_or(&model);
    let has = |part: &str| name.contains(part);
    let windows: &[u64] = if has("claude") {
        if has("[1m]") { &[1_000_000] } else { &[200_000, 1_000_000] }
    } else if has("gemini") {
        &[1_048_576, 2_097_152]
    } else if has("gpt-4.1") {
        &[1_047_576]
    } else if has("gpt-5") {
        &[400_000, 1_050_000]
    } else if has("gpt-4o") || has("gpt-4-turbo") {
        &[128_000]
    } else if name.starts_with("o1") || name.starts_with("o3") || name.starts_with("o4") {
        &[200_000]
    } else if has("qwen3-coder") || has("kimi-k2") {
        &[262_144, 1_048_576]
    } else if has("deepseek") {
        &[131_072, 1_048_576]
    } else {
        &[]
    };
    windows.iter().copied().find(|window| *window >= sent)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_that_does_not_fit_shows_a_larger_window() {
        assert_eq!(window("claude-sonnet-4-5-20250929", 24_010), Some(200_000));
        assert_eq!(window("claude-sonnet-4-5", 200_001), Some(1_000_000));
        assert_eq!(window("anthropic/claude-opus-4[1m]", 1), Some(1_000_000));
        assert_eq!(window("gpt-5.5", 1), Some(400_000));
        assert_eq!(window("models/gemini-2.5-pro", 1), Some(1_048_576));
        assert_eq!(window("o3-mini", 1), Some(200_000));
        assert_eq!(window("nobody", 1), None);
        assert_eq!(window("claude", u64::MAX), None);
    }
}
