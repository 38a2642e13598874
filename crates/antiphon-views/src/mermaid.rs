//! A flow as a Mermaid sequence diagram.

use antiphon_model::is_dangerous;

use crate::flow::{Flow, FlowKind};

/// How much of a message is written on its arrow.
const LABEL_CHARS: usize = 60;

pub fn mermaid(flow: &Flow) -> String {
    let mut out = String::from("sequenceDiagram\n");
    // Participants are numbered, because ids and names are recorded text that could be syntax.
    for (at, participant) in flow.participants.iter().enumerate() {
        out.push_str(&format!("    participant p{at} as {}\n", label(&participant.name)));
    }
    for message in &flow.messages {
        let (from, to) = (flow.position(&message.from), flow.position(&message.to));
        let (arrow, text) = match message.kind {
            FlowKind::Created => ("-->>", format!("makes {}", message.text)),
            FlowKind::Notice => ("-)", message.text.clone()),
            FlowKind::Message | FlowKind::Delivery | FlowKind::Answer => {
                ("->>", message.text.clone())
            }
        };
        out.push_str(&format!("    p{from}{arrow}p{to}: {}\n", label(&text)));
    }
    out
}

/// Text without Mermaid's syntax: on one line, with special characters replaced.
fn label(text: &str) -> String {
    let mut clean: String = text
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ")
        .chars()
        .map(|c| match c {
            '#' => '＃',
            ';' => '；',
            '<' => '‹',
            '>' => '›',
            ':' => '∶',
            '%' => '％',
            c if is_dangerous(c) => '·',
            c => c,
        })
        .collect();
    if let Some((cut, _)) = clean.char_indices().nth(LABEL_CHARS) {
        clean.truncate(cut);
        clean.push('…');
    }
    if clean.is_empty() { "…".to_owned() } else { clean }
}
