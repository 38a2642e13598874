use antiphon_journal::Level;

use super::*;

fn collector(folder: &Path) -> SpanCollector {
    let options = Options { level: Level::Os, ..Options::default() };
    SpanCollector::new(folder, Prices::bundled(), options)
}

/// Spans as an outline: level, kind, name, status.
fn outline(spans: &[Span]) -> String {
    let line = |span: &Span| {
        let kind = serde_json::to_string(&span.kind).unwrap();
        let status = serde_json::to_string(&span.status).unwrap();
        let flavor = serde_json::to_string(&span.flavor).unwrap();
        let tokens = span.usage.output_tokens;
        format!("{}{} {kind} {status} {flavor} {tokens}", "  ".repeat(span.level), span.name)
    };
    spans.iter().map(line).collect::<Vec<_>>().join("\n").replace('"', "")
}

#[test]
fn what_was_collected_is_what_the_log_shows() {
    let folder = tempfile::tempdir().unwrap();
    let collector = collector(folder.path());
    let done = CompleteSpan::new(SpanStatus::Completed);
    let root = StartSpan {
        run_id: Some("run-1"),
        name: Some("Fix the login"),
        ..StartSpan::new(SpanKind::Coordinator, "task-1")
    };
    let coordinator = collector.start_span(&root).unwrap();
    let agent = StartSpan {
        parent_span_id: Some(&coordinator),
        adapter_id: Some("claude"),
        role: Some("builder"),
        ..StartSpan::new(SpanKind::CliAgent, "task-1")
    };
    let builder = collector.start_span(&agent).unwrap();
    let below = |kind, name| StartSpan {
        parent_span_id: Some(&builder),
        name: Some(name),
        ..StartSpan::new(kind, "task-1")
    };
    let failed = CompleteSpan { error: Some("exit 1"), ..CompleteSpan::new(SpanStatus::Failed) };
    collector.add_span(&below(SpanKind::ToolCall, "Bash"), &failed).unwrap();
    let scout = collector.start_span(&below(SpanKind::SubAgent, "scout")).unwrap();
    let usage = Some(Usage { input: 10, output: 7, ..Usage::default() });
    let model = Some("claude-haiku-4-5");
    collector.complete_span("task-1", &scout, &CompleteSpan { usage, model, ..done }).unwrap();
    let again = StartSpan {
        flavor: Flavor::CoWork,
        agent_id: Some("sub-agent"),
        ..below(SpanKind::SubAgent, "scout again")
    };
    collector.start_span(&again).unwrap();

    let flat = collector.get_flat("task-1").unwrap();
    insta::assert_snapshot!(outline(&flat), @r"
    Fix the login coordinator running none 0
      claude-builder cli-agent running none 0
        Bash tool-call failed none 0
        scout sub-agent completed normal 7
        scout again sub-agent running co-work 0
    ");
    assert_eq!(collector.get_by_run("run-1").unwrap().len(), flat.len());
    assert!(collector.get_by_run("run-2").unwrap().is_empty());
    let tree = collector.get_tree("task-1").unwrap();
    assert_eq!((tree.len(), tree[0].total_usage.output_tokens), (1, 7));
}

#[test]
fn the_first_end_counts() {
    let folder = tempfile::tempdir().unwrap();
    let collector = collector(folder.path());
    let span = collector.start_span(&StartSpan::new(SpanKind::ApiAgent, "t")).unwrap();
    let end = |status| collector.complete_span("t", &span, &CompleteSpan::new(status)).unwrap();
    assert!(end(SpanStatus::TimedOut));
    assert!(!end(SpanStatus::Completed));
    let spans = collector.get_flat("t").unwrap();
    assert_eq!(spans[1].status, SpanStatus::TimedOut);
    assert_eq!(spans[1].kind, SpanKind::ApiAgent);
}

#[test]
fn many_threads_collect_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let collector = collector(folder.path());
    let agent = collector.start_span(&StartSpan::new(SpanKind::CliAgent, "t")).unwrap();
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                for _ in 0..50 {
                    let start = StartSpan {
                        parent_span_id: Some(&agent),
                        name: Some("Read"),
                        ..StartSpan::new(SpanKind::ToolCall, "t")
                    };
                    let end = CompleteSpan::new(SpanStatus::Completed);
                    collector.add_span(&start, &end).unwrap();
                }
            });
        }
    });
    let spans = collector.get_flat("t").unwrap();
    assert_eq!(spans.iter().filter(|span| span.kind == SpanKind::ToolCall).count(), 400);
}
