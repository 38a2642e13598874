//! The head of a page, and what it says before the conversation begins.

use antiphon_views::{CostNode, Usd, count, tokens};

use crate::Page;
use crate::facts::{Facts, Listed, money, nodes};
use crate::text::Clean;

const STYLE: &str = include_str!("page.css");
/// The SHA-256 of the style, which is the only one that the page allows.
pub(crate) const STYLE_HASH: &str = "S19BuA4rOUeA4vp6ivAwcE3XI04zzlHP2QYlFzc1o7U=";

pub(super) fn push_head(out: &mut String, page: &Page<'_>, facts: &Facts) {
    let images = if page.with_images { "; img-src data:" } else { "" };
    out.push_str("<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n");
    out.push_str(&format!(
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; \
         style-src 'sha256-{STYLE_HASH}'{images}; base-uri 'none'; form-action 'none'\">\n"
    ));
    out.push_str(
        "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <meta name=\"referrer\" content=\"no-referrer\">\n\
         <meta name=\"robots\" content=\"noindex\">\n<title>",
    );
    facts.title.push_html(out);
    out.push_str("</title>\n<style>");
    out.push_str(STYLE);
    out.push_str("</style>\n</head>\n<body>\n<main>\n<header>\n<h1>");
    facts.title.push_html(out);
    out.push_str("</h1>\n<dl class=\"facts\">\n");
    for (name, value) in &facts.rows {
        let class = if *name == "Status" { facts.status.as_str() } else { "" };
        out.push_str(&format!("<div><dt>{name}</dt><dd class=\"{class}\">"));
        value.push_html(out);
        out.push_str("</dd></div>\n");
    }
    out.push_str("</dl>\n</header>\n");
    push_prompts(out, facts);
    push_files(out, facts);
    push_failures(out, facts);
    push_cost(out, page, facts);
}

/// Begins a part of the overview.
fn begin(out: &mut String, title: &str, total: usize, is_open: bool) {
    let open = if is_open { " open" } else { "" };
    out.push_str(&format!(
        "<details class=\"part\"{open}><summary><h2>{title}</h2><span class=\"side\">{total}</span></summary>\n"
    ));
}

fn push_more<T>(out: &mut String, listed: &Listed<T>) {
    if listed.more() > 0 {
        out.push_str(&format!("<p class=\"note\">… and {} more</p>\n", listed.more()));
    }
}

fn push_prompts(out: &mut String, facts: &Facts) {
    // Of one prompt, the page itself is the list.
    if facts.prompts.total < 2 {
        return;
    }
    begin(out, "Prompts", facts.prompts.total, facts.prompts.total <= 12);
    out.push_str("<ol class=\"list prompts\">\n");
    for prompt in &facts.prompts.items {
        out.push_str(&format!("<li><a href=\"#m{}\">", prompt.event.index()));
        prompt.text.push_html(out);
        out.push_str("</a></li>\n");
    }
    out.push_str("</ol>\n");
    push_more(out, &facts.prompts);
    out.push_str("</details>\n");
}

fn push_files(out: &mut String, facts: &Facts) {
    let files = &facts.files;
    if files.total == 0 {
        return;
    }
    begin(out, "Files changed", files.total, files.total <= 12);
    out.push_str("<table class=\"files\">\n");
    for file in &files.items {
        out.push_str("<tr><td><code>");
        file.path.push_html(out);
        out.push_str(&format!(
            "</code></td><td class=\"soft\">{}</td><td class=\"number\">",
            file.status
        ));
        push_counts(out, file.added, file.removed);
        out.push_str("</td></tr>\n");
    }
    out.push_str("</table>\n");
    push_more(out, files);
    if facts.possible > 0 {
        let commands = count(facts.possible, "shell command");
        out.push_str(&format!("<p class=\"note\">{commands} may have changed files too.</p>\n"));
    }
    out.push_str("</details>\n");
}

pub(super) fn push_counts(out: &mut String, added: usize, removed: usize) {
    out.push_str(&format!(
        "<span class=\"plus\">+{added}</span> <span class=\"minus\">−{removed}</span>"
    ));
}

fn push_failures(out: &mut String, facts: &Facts) {
    let failures = &facts.failures;
    if failures.total == 0 {
        return;
    }
    begin(out, "Failed calls", failures.total, failures.total <= 6);
    out.push_str("<ul class=\"list failures\">\n");
    for failure in &failures.items {
        out.push_str(&format!("<li><a href=\"#c{}\"><b>", failure.call.index()));
        failure.tool.push_html(out);
        out.push_str("</b> <code>");
        failure.what.push_html(out);
        out.push_str("</code></a><span class=\"bad\">");
        failure.error.push_html(out);
        out.push_str("</span></li>\n");
    }
    out.push_str("</ul>\n");
    push_more(out, failures);
    out.push_str("</details>\n");
}

/// What each agent cost, if there are several.
fn push_cost(out: &mut String, page: &Page<'_>, facts: &Facts) {
    let tree = &facts.cost.tree;
    let is_one = matches!(tree.as_slice(), [root] if root.children.is_empty());
    if is_one || facts.cost.total.requests == 0 {
        return;
    }
    let agents = page.reading.session.agents().len();
    begin(out, "Agents and their cost", agents, agents <= 16);
    out.push_str(
        "<table class=\"cost\">\n<tr><th>Agent</th><th>Model</th><th class=\"number\">Requests</th>\
         <th class=\"number\">Tokens</th><th class=\"number\">Cost</th><th></th></tr>\n",
    );
    let all = facts.cost.total.known();
    for (node, depth) in nodes(tree) {
        push_node(out, page, node, depth, all);
    }
    let total = money(&facts.cost.total);
    out.push_str(&format!(
        "<tr class=\"total\"><td>All agents</td><td></td><td class=\"number\">{}</td>\
         <td class=\"number\">{}</td><td class=\"number\">{total}</td><td></td></tr>\n</table>\n",
        facts.cost.total.requests,
        tokens(facts.cost.total.usage.sum()),
    ));
    let unknown = match facts.cost.total.is_partial() {
        true => " Not every price or number of tokens is known.",
        false => "",
    };
    out.push_str(&format!(
        "<p class=\"note\">Each row is what the agent itself used, by the list prices of \
         {}.{unknown}</p>\n</details>\n",
        facts.cost.prices_date
    ));
}

fn push_node(out: &mut String, page: &Page<'_>, node: &CostNode, depth: usize, all: Usd) {
    let product = page.clean_line(page.product, 60);
    let name = page.clean_line(&node.name, 60);
    // The style has a class for each depth; attributes could not say it.
    out.push_str(&format!("<tr><td class=\"d{}\">", depth.min(6)));
    let name: &Clean = if depth == 0 && node.name == node.agent_id { &product } else { &name };
    name.push_html(out);
    out.push_str("</td><td class=\"soft\">");
    page.clean_line(&node.models.join(", "), 60).push_html(out);
    let width = match all.as_picos() {
        0 => 0,
        all => node.own.known().as_picos() * 100 / all,
    };
    out.push_str(&format!(
        "</td><td class=\"number\">{}</td><td class=\"number\">{}</td><td class=\"number\">{}</td>\
         <td class=\"bar\"><svg width=\"100%\" height=\"8\" aria-hidden=\"true\">\
         <rect width=\"{width}%\" height=\"8\" rx=\"2\"/></svg></td></tr>\n",
        node.requests,
        tokens(node.own.usage.sum()),
        if node.requests > 0 { money(&node.own) } else { "–".to_owned() },
    ));
}

#[cfg(test)]
mod tests {
    use base64::Engine as _;
    use sha2::Digest as _;

    use super::*;

    #[test]
    fn the_policy_allows_the_style_that_is_in_the_page() {
        let hash = sha2::Sha256::digest(STYLE);
        assert_eq!(STYLE_HASH, base64::engine::general_purpose::STANDARD.encode(hash));
    }
}
