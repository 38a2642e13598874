//! A flow as a Mermaid sequence diagram.

use antiphon_model::is_dangerous;

use crate::flow::{Flow, FlowKind};

/// How much of a message is written on its arrow.
const LABEL_CHARS: usize = 60;

pub fn mermaid(flow: &Flow) -> String {
    let mut out = String::from("sequenceDiagram\n");
    // Participants are numbered: ids and names are recorded text, and Mermaid has a syntax.
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

/// Text that Mermaid takes for text: on one line, without the characters that it acts on.
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
