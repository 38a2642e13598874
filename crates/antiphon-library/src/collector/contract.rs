//! The contract of the collector, in the order of the design that it follows ("seed 002"): each
//! test names the section, and says in its own words what the section demands. Every promise is
//! checked twice: on the collector that recorded, and on another opened on the same folder.

use antiphon_journal::Level;
use antiphon_views::RunStatus;
use std::fs;

use super::*;

fn collector(folder: &Path) -> SpanCollector {
    let options = Options { level: Level::Os, ..Options::default() };
    SpanCollector::new(folder, Prices::bundled(), options)
}

/// Looks twice: now, and after the program was started again.
fn twice(folder: &Path, first: SpanCollector, look: impl Fn(&SpanCollector)) {
    look(&first);
    drop(first);
    look(&collector(folder));
}

fn at(second: i64) -> Option<Timestamp> {
    Some(Timestamp::from_millis(1_767_225_600_000 + second * 1000))
}

fn usage(input: u64, output: u64) -> Option<Usage> {
    Some(Usage { input, output, ..Usage::default() })
}

fn done() -> CompleteSpan<'static> {
    CompleteSpan::new(SpanStatus::Completed)
}

fn find<'s>(spans: &'s [Span], id: &str) -> &'s Span {
    spans.iter().find(|span| span.span_id == id).unwrap()
}

fn ids(spans: &[Span]) -> Vec<&str> {
    spans.iter().map(|span| span.span_id.as_str()).collect()
}

/// Section 1: a span is one flat record. Its id and its task are always there; parent, run,
/// adapter, role, end, usage and cost may be missing; it runs until it is completed, and it has a
/// start from the moment at which it is started.
#[test]
fn section_1_a_span_is_a_flat_record() {
    let folder = tempfile::tempdir().unwrap();
    let first = collector(folder.path());
    let bare = first.start_span(&StartSpan::new(SpanKind::CliAgent, "task")).unwrap();
    let full = StartSpan {
        run_id: Some("run"),
        agent_id: Some("kilo-builder"),
        adapter_id: Some("kilo"),
        role: Some("builder"),
        started_at: at(1),
        ..StartSpan::new(SpanKind::CliAgent, "task")
    };
    let full = first.start_span(&full).unwrap();
    let end = CompleteSpan {
        usage: usage(120, 34),
        cost_usd: Usd::from_f64(0.25),
        completed_at: at(9),
        ..done()
    };
    assert!(first.complete_span("task", &full, &end).unwrap());
    twice(folder.path(), first, |collector| {
        let spans = collector.get_flat("task").unwrap();
        let bare = find(&spans, &bare);
        assert_eq!((bare.task_id.as_str(), bare.run_id.as_deref()), ("task", None));
        assert_eq!((bare.status, bare.completed_at), (SpanStatus::Running, None));
        assert!(bare.started_at.is_some(), "it started, whether or not it did anything");
        assert_eq!((bare.adapter_id.as_deref(), bare.role.as_deref()), (None, None));
        let full = find(&spans, &full);
        assert_eq!(full.agent_id, "kilo-builder");
        assert_eq!(full.adapter_id.as_deref(), Some("kilo"));
        assert_eq!(full.role.as_deref(), Some("builder"));
        assert_eq!(full.run_id.as_deref(), Some("run"));
        assert_eq!((full.started_at, full.completed_at), (at(1), at(9)));
        assert_eq!(full.status, SpanStatus::Completed);
        assert_eq!((full.usage.input_tokens, full.usage.output_tokens), (120, 34));
        assert_eq!(full.cost_usd, Usd::from_f64(0.25));
    });
}

/// Section 2, kinds: six of them, and a span keeps the kind with which it was started, whatever its
/// adapter is called.
#[test]
fn section_2_a_span_keeps_its_kind() {
    let folder = tempfile::tempdir().unwrap();
    let first = collector(folder.path());
    let start = |kind, adapter| StartSpan { adapter_id: adapter, ..StartSpan::new(kind, "task") };
    let kinds = [
        (SpanKind::Coordinator, None),
        (SpanKind::CliAgent, Some("api-like-cli")),
        (SpanKind::CliAgent, None),
        (SpanKind::ApiAgent, Some("kilo")),
        (SpanKind::ApiAgent, Some("api-anthropic")),
        (SpanKind::Decomposer, Some("claude")),
        (SpanKind::SubAgent, None),
        (SpanKind::ToolCall, None),
    ];
    let started: Vec<(String, SpanKind)> = kinds
        .into_iter()
        .map(|(kind, adapter)| (first.start_span(&start(kind, adapter)).unwrap(), kind))
        .collect();
    twice(folder.path(), first, |collector| {
        let spans = collector.get_flat("task").unwrap();
        assert_eq!(spans.len(), started.len());
        for (id, kind) in &started {
            assert_eq!(find(&spans, id).kind, *kind);
        }
    });
}

/// Section 2, flavours: none for what is no sub-agent, normal for an independent helper, co-work
/// for one that shares context, with or without an agent's id.
#[test]
fn section_2_a_sub_agent_keeps_its_flavour() {
    let folder = tempfile::tempdir().unwrap();
    let first = collector(folder.path());
    let agent = first.start_span(&StartSpan::new(SpanKind::CliAgent, "task")).unwrap();
    let below = |kind, flavor, agent_id| {
        let start = StartSpan {
            parent_span_id: Some(&agent),
            flavor,
            agent_id,
            ..StartSpan::new(kind, "task")
        };
        first.start_span(&start).unwrap()
    };
    let expected = [
        (below(SpanKind::SubAgent, Flavor::Normal, None), Flavor::Normal),
        (below(SpanKind::SubAgent, Flavor::CoWork, None), Flavor::CoWork),
        (below(SpanKind::SubAgent, Flavor::CoWork, Some("helper")), Flavor::CoWork),
        (below(SpanKind::ToolCall, Flavor::CoWork, None), Flavor::None),
        (agent.clone(), Flavor::None),
    ];
    twice(folder.path(), first, |collector| {
        let spans = collector.get_flat("task").unwrap();
        for (id, flavor) in &expected {
            assert_eq!(find(&spans, id).flavor, *flavor);
        }
    });
}

/// Section 2, states: running, completed, failed, timed out; a tool call has them all as an agent
/// does.
#[test]
fn section_2_every_kind_may_end_in_every_state() {
    let folder = tempfile::tempdir().unwrap();
    let first = collector(folder.path());
    let agent = first.start_span(&StartSpan::new(SpanKind::CliAgent, "task")).unwrap();
    let states =
        [SpanStatus::Completed, SpanStatus::Failed, SpanStatus::TimedOut, SpanStatus::Cancelled];
    let mut ended = Vec::new();
    for kind in [SpanKind::ApiAgent, SpanKind::SubAgent, SpanKind::ToolCall] {
        for status in states {
            let parent_span_id = Some(agent.as_str()).filter(|_| kind != SpanKind::ApiAgent);
            let start = StartSpan { parent_span_id, ..StartSpan::new(kind, "task") };
            let id = first.add_span(&start, &CompleteSpan::new(status)).unwrap();
            ended.push((id, status));
        }
    }
    twice(folder.path(), first, |collector| {
        let spans = collector.get_flat("task").unwrap();
        for (id, status) in &ended {
            assert_eq!(find(&spans, id).status, *status);
        }
    });
}

/// Section 3: above the tasks there is a run, with a title, branches and states of its own, from
/// accepted to done or failed.
#[test]
fn section_3_a_run_goes_from_accepted_to_done() {
    let folder = tempfile::tempdir().unwrap();
    let first = collector(folder.path());
    let start = StartRun {
        feature_branch: Some("feat/login"),
        base_branch: Some("main"),
        started_at: at(0),
        ..StartRun::new("run", "Fix the login")
    };
    first.start_run(&start).unwrap();
    let run = first.get_run("run").unwrap().unwrap();
    assert_eq!((run.status, run.started_at), (RunStatus::Accepted, at(0)));
    let way = [
        RunStatus::Decomposing,
        RunStatus::Executing,
        RunStatus::Merging,
        RunStatus::ReadyForPr,
        RunStatus::Done,
    ];
    for (second, status) in (1..).zip(way) {
        assert!(first.set_run_status("run", status, at(second)).unwrap());
    }
    assert!(!first.set_run_status("run", RunStatus::Failed, None).unwrap(), "the end is the end");
    assert!(first.set_run_status("other", RunStatus::Done, None).is_err());
    twice(folder.path(), first, |collector| {
        let run = collector.get_run("run").unwrap().unwrap();
        assert_eq!((run.status, run.completed_at), (RunStatus::Done, at(5)));
        assert_eq!(run.title.as_deref(), Some("Fix the login"));
        assert_eq!(run.feature_branch.as_deref(), Some("feat/login"));
        assert_eq!(run.base_branch.as_deref(), Some("main"));
        assert_eq!(run.history.len(), 6);
        assert!(collector.get_by_run("run").unwrap().is_empty(), "a run is no span");
    });
}

/// Section 4: a coordinator on level 0, one per task; agents on level 1; sub-agents and tool calls
/// on level 2; deeper ones below.
#[test]
fn section_4_levels_follow_the_parents() {
    let folder = tempfile::tempdir().unwrap();
    let first = collector(folder.path());
    let start = |kind, parent| StartSpan { parent_span_id: parent, ..StartSpan::new(kind, "task") };
    let root = first.start_span(&start(SpanKind::Coordinator, None)).unwrap();
    let again = first.start_span(&start(SpanKind::Coordinator, None)).unwrap();
    assert_eq!(root, again, "a task has one coordinator");
    let agent = first.start_span(&start(SpanKind::CliAgent, Some(&root))).unwrap();
    let sub = first.start_span(&start(SpanKind::SubAgent, Some(&agent))).unwrap();
    let deep = first.start_span(&start(SpanKind::SubAgent, Some(&sub))).unwrap();
    let tool = first.start_span(&start(SpanKind::ToolCall, Some(&agent))).unwrap();
    let own = first.start_span(&start(SpanKind::ToolCall, Some(&root))).unwrap();
    let nested = first.start_span(&start(SpanKind::ToolCall, Some(&tool))).unwrap();
    twice(folder.path(), first, |collector| {
        let spans = collector.get_flat("task").unwrap();
        let level = |id: &str| find(&spans, id).level;
        let levels = [&root, &agent, &sub, &deep, &tool, &own, &nested].map(|id| level(id));
        assert_eq!(levels, [0, 1, 2, 3, 2, 1, 3]);
        assert_eq!(find(&spans, &nested).parent_span_id.as_deref(), Some(tool.as_str()));
        assert_eq!(collector.get_tree("task").unwrap().len(), 1);
    });
}

/// Section 4, sub-tasks: a sub-task has a coordinator of its own, linked to the span that spawned
/// it. It is the root of its task's tree; in the run it lies below that span.
#[test]
fn section_4_a_sub_task_hangs_below_the_span_that_spawned_it() {
    let folder = tempfile::tempdir().unwrap();
    let first = collector(folder.path());
    let start = |kind, task, parent| StartSpan {
        run_id: Some("run"),
        parent_span_id: parent,
        ..StartSpan::new(kind, task)
    };
    let outer = first.start_span(&start(SpanKind::Coordinator, "outer", None)).unwrap();
    let agent = first.start_span(&start(SpanKind::CliAgent, "outer", Some(&outer))).unwrap();
    let inner = first.start_span(&start(SpanKind::Coordinator, "inner", Some(&agent))).unwrap();
    let below = first.start_span(&start(SpanKind::CliAgent, "inner", Some(&inner))).unwrap();
    twice(folder.path(), first, |collector| {
        let spans = collector.get_flat("inner").unwrap();
        let root = find(&spans, &inner);
        assert_eq!(root.parent_span_id.as_deref(), Some(agent.as_str()));
        assert_eq!((root.level, root.depth), (2, 0));
        assert_eq!((find(&spans, &below).level, find(&spans, &below).depth), (3, 1));
        assert_eq!(collector.get_tree("inner").unwrap().len(), 1);
        let whole = span_tree(&collector.get_by_run("run").unwrap());
        assert_eq!(whole.len(), 1, "the run is one tree");
        assert_eq!(whole[0].children[0].children[0].span.span_id, inner);
    });
}

/// Section 5, start and complete: two executions of one agent are two spans, in whichever process
/// they ran; a span that was started before the program ended can be completed after it, once.
#[test]
fn section_5_a_collector_goes_on_where_another_stopped() {
    let folder = tempfile::tempdir().unwrap();
    let start = |kind| StartSpan {
        role: Some("planner"),
        adapter_id: Some("claude"),
        ..StartSpan::new(kind, "task")
    };
    let tool = |parent| StartSpan {
        parent_span_id: Some(parent),
        name: Some("Read"),
        ..StartSpan::new(SpanKind::ToolCall, "task")
    };
    let (agent, call, open) = {
        let first = collector(folder.path());
        let agent = first.start_span(&start(SpanKind::CliAgent)).unwrap();
        let call = first.start_span(&tool(&agent)).unwrap();
        let open = first.start_span(&start(SpanKind::CliAgent)).unwrap();
        let end = CompleteSpan { usage: usage(100, 1), ..CompleteSpan::new(SpanStatus::Failed) };
        first.complete_span("task", &agent, &end).unwrap();
        (agent, call, open)
    };
    let second = collector(folder.path());
    assert!(second.complete_span("task", &call, &done()).unwrap());
    let end = CompleteSpan { usage: usage(7, 2), ..done() };
    assert!(second.complete_span("task", &open, &end).unwrap());
    assert!(!second.complete_span("task", &open, &done()).unwrap(), "the first end counts");
    assert!(!second.complete_span("task", &agent, &done()).unwrap(), "in any process");
    let another = second.start_span(&start(SpanKind::CliAgent)).unwrap();
    second
        .complete_span("task", &another, &CompleteSpan { usage: usage(50, 3), ..done() })
        .unwrap();
    twice(folder.path(), second, |collector| {
        let spans = collector.get_flat("task").unwrap();
        let told = |id: &str| {
            let span = find(&spans, id);
            (span.agent_id.as_str(), span.status, span.usage.input_tokens)
        };
        assert_eq!(told(&agent), ("claude-planner", SpanStatus::Failed, 100));
        assert_eq!(told(&open), ("claude-planner", SpanStatus::Completed, 7));
        assert_eq!(told(&another), ("claude-planner", SpanStatus::Completed, 50));
        let mut unique = ids(&spans);
        unique.sort_unstable();
        unique.dedup();
        assert_eq!(unique.len(), spans.len());
    });
}

/// Section 5, unknown ids: a task of which nothing is known has no spans; to complete a span that
/// was never started is an error.
#[test]
fn section_5_what_is_unknown_is_empty_and_cannot_be_completed() {
    let folder = tempfile::tempdir().unwrap();
    let collector = collector(folder.path());
    assert!(collector.get_flat("nowhere").unwrap().is_empty());
    assert!(collector.get_tree("nowhere").unwrap().is_empty());
    assert!(collector.get_by_run("nowhere").unwrap().is_empty());
    assert!(collector.get_run("nowhere").unwrap().is_none());
    let unknown = collector.complete_span("nowhere", "span", &done());
    assert!(matches!(unknown, Err(CollectorError::NoSpan(_))));
    assert!(std::fs::read_dir(folder.path()).unwrap().next().is_none(), "nothing was written");
    collector.start_span(&StartSpan::new(SpanKind::CliAgent, "task")).unwrap();
    let unknown = collector.complete_span("task", "span", &done());
    assert!(matches!(unknown, Err(CollectorError::NoSpan(_))));
}

/// Section 5, late parents: what is imported after the fact comes in any order, with the ids that
/// it has, and finds its parent when that arrives.
#[test]
fn section_5_a_parent_may_come_later() {
    let folder = tempfile::tempdir().unwrap();
    let first = collector(folder.path());
    let start = |kind, id, parent| StartSpan {
        span_id: Some(id),
        parent_span_id: parent,
        ..StartSpan::new(kind, "task")
    };
    first.start_span(&start(SpanKind::ToolCall, "tool", Some("agent"))).unwrap();
    first.start_span(&start(SpanKind::CliAgent, "agent", None)).unwrap();
    let again = first.start_span(&start(SpanKind::CliAgent, "agent", None));
    assert!(matches!(again, Err(CollectorError::SpanExists(_))));
    twice(folder.path(), first, |collector| {
        let spans = collector.get_flat("task").unwrap();
        let tool = find(&spans, "tool");
        assert_eq!((tool.parent_span_id.as_deref(), tool.level), (Some("agent"), 2));
    });
}

/// Section 5, by run: the spans of all tasks of a run, and of no other run, each with an id that no
/// other has.
#[test]
fn section_5_a_run_has_the_spans_of_all_its_tasks() {
    let folder = tempfile::tempdir().unwrap();
    let first = collector(folder.path());
    for (task, run) in [("a", "run-1"), ("b", "run-1"), ("c", "run-2")] {
        let start = |kind| StartSpan {
            run_id: Some(run),
            role: Some("builder"),
            ..StartSpan::new(kind, task)
        };
        first.start_span(&start(SpanKind::Coordinator)).unwrap();
        first.start_span(&start(SpanKind::CliAgent)).unwrap();
    }
    twice(folder.path(), first, |collector| {
        let spans = collector.get_by_run("run-1").unwrap();
        let mut tasks: Vec<&str> = spans.iter().map(|span| span.task_id.as_str()).collect();
        tasks.dedup();
        assert_eq!((spans.len(), tasks), (4, vec!["a", "b"]));
        let mut unique = ids(&spans);
        unique.sort_unstable();
        unique.dedup();
        assert_eq!(unique.len(), 4);
        assert_eq!(collector.get_by_run("run-2").unwrap().len(), 2);
    });
}

/// Section 6: the tree is made of the same spans when somebody asks, each within its parent.
/// Section 7: tokens are counted where they were used, in 64 bits, and a node sums those below it.
#[test]
fn sections_6_and_7_a_tree_adds_up_what_its_spans_used() {
    let folder = tempfile::tempdir().unwrap();
    let first = collector(folder.path());
    let start = |kind, parent| StartSpan { parent_span_id: parent, ..StartSpan::new(kind, "task") };
    let root = first.start_span(&start(SpanKind::Coordinator, None)).unwrap();
    let agent = first.start_span(&start(SpanKind::ApiAgent, Some(&root))).unwrap();
    let cost = |cents: f64| Usd::from_f64(cents / 100.0);
    let end = |input, cents| CompleteSpan {
        usage: Some(Usage {
            input,
            output: 1,
            reasoning: 1,
            cache_read: 2,
            cache_write: 3,
            ..Usage::default()
        }),
        cost_usd: cost(cents),
        ..done()
    };
    let sub = start(SpanKind::SubAgent, Some(&agent));
    first.add_span(&sub, &end(10, 1.0)).unwrap();
    let tool = start(SpanKind::ToolCall, Some(&agent));
    first.add_span(&tool, &end(100, 2.0)).unwrap();
    first.complete_span("task", &agent, &end(1 << 40, 4.0)).unwrap();
    first.complete_span("task", &root, &end(1, 8.0)).unwrap();
    twice(folder.path(), first, |collector| {
        let tree = collector.get_tree("task").unwrap();
        let (root, agent) = (&tree[0], &tree[0].children[0]);
        assert_eq!(root.span.usage.input_tokens, 1);
        assert_eq!(agent.span.usage.input_tokens, 1 << 40);
        assert_eq!(agent.children[1].span.usage.cache_write_tokens, 3);
        assert_eq!(agent.total_usage.input_tokens, (1 << 40) + 110);
        assert_eq!(root.total_usage.input_tokens, (1 << 40) + 111);
        assert_eq!((agent.total_cost_usd, root.total_cost_usd), (cost(7.0), cost(15.0)));
    });
}

/// A program may be killed between any two of the events that it records. Whoever opens the
/// collector again goes on from there: what was started is there once, and what was used counts
/// once.
#[test]
fn a_kill_between_two_events_loses_nothing_and_doubles_nothing() {
    let whole = tempfile::tempdir().unwrap();
    let start = |collector: &SpanCollector| {
        let agent =
            StartSpan { span_id: Some("agent"), ..StartSpan::new(SpanKind::CliAgent, "task") };
        collector.start_span(&agent).unwrap();
        let sub = StartSpan {
            span_id: Some("sub"),
            parent_span_id: Some("agent"),
            agent_id: Some("scout"),
            adapter_id: Some("kilo"),
            role: Some("tester"),
            name: Some("Scout"),
            ..StartSpan::new(SpanKind::SubAgent, "task")
        };
        collector.start_span(&sub).unwrap();
    };
    let end = CompleteSpan { usage: usage(5, 7), ..done() };
    let first = collector(whole.path());
    start(&first);
    let started = fs::read_to_string(first.path("task")).unwrap().lines().count();
    assert!(first.complete_span("task", "sub", &end).unwrap());
    assert!(first.complete_span("task", "agent", &end).unwrap());
    let tell = |collector: &SpanCollector| -> Vec<String> {
        let spans = collector.get_flat("task").unwrap();
        let line = |it: &Span| {
            let Span { span_id, parent_span_id, kind, agent_id, adapter_id, role, name, .. } = it;
            let who = (span_id, parent_span_id, kind, agent_id, adapter_id, role, name);
            format!("{who:?} {:?} {}", it.status, it.usage.output_tokens)
        };
        spans.iter().map(line).collect()
    };
    let wanted = tell(&first);
    assert_eq!(wanted.len(), 3);
    let log = fs::read_to_string(first.path("task")).unwrap();
    let lines: Vec<&str> = log.split_inclusive('\n').collect();
    // From the call of the sub-agent on, which is the last but one event of the start.
    for kept in started - 1..lines.len() {
        let folder = tempfile::tempdir().unwrap();
        let again = collector(folder.path());
        fs::write(again.path("task"), lines[..kept].concat()).unwrap();
        assert_eq!(
            again.get_flat("task").unwrap().len(),
            3,
            "{kept} lines: seen before it goes on"
        );
        for span in ["sub", "agent"] {
            again.complete_span("task", span, &end).unwrap();
        }
        assert_eq!(tell(&again), wanted, "killed after {kept} of {} lines", lines.len());
        assert!(!again.complete_span("task", "sub", &end).unwrap());
    }
}

/// Section 3: a run goes through its states; that it is started again does not set it back.
#[test]
fn section_3_a_run_that_is_started_again_stays_where_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let first = collector(folder.path());
    let start = StartRun { feature_branch: Some("feat/x"), ..StartRun::new("run", "Ship it") };
    first.start_run(&start).unwrap();
    first.set_run_status("run", RunStatus::Executing, None).unwrap();
    drop(first);
    let again = collector(folder.path());
    again.start_run(&StartRun::new("run", "Ship it")).unwrap();
    twice(folder.path(), again, |collector| {
        let run = collector.get_run("run").unwrap().unwrap();
        assert_eq!((run.status, run.history.len()), (RunStatus::Executing, 2));
        assert_eq!(run.feature_branch.as_deref(), Some("feat/x"));
    });
    // Killed before its first state was recorded, it gets one.
    let path = folder.path().join(format!("run-{}.jsonl", key("run")));
    let log = fs::read_to_string(&path).unwrap();
    let opening = log.lines().take_while(|line| !line.contains("run_status")).count();
    fs::write(&path, log.split_inclusive('\n').take(opening).collect::<String>()).unwrap();
    let last = collector(folder.path());
    last.start_run(&start).unwrap();
    assert_eq!(last.get_run("run").unwrap().unwrap().status, RunStatus::Accepted);
}

/// Section 5: what others put into the folder is not the collector's, and fails no question.
#[test]
fn section_5_somebody_elses_file_in_the_folder_is_passed_over() {
    let folder = tempfile::tempdir().unwrap();
    let first = collector(folder.path());
    let start = StartSpan { run_id: Some("run"), ..StartSpan::new(SpanKind::CliAgent, "task") };
    first.start_span(&start).unwrap();
    fs::write(folder.path().join("notes.jsonl"), "not a log\n").unwrap();
    fs::write(folder.path().join("empty.jsonl"), "").unwrap();
    fs::write(folder.path().join("binary.jsonl"), [0, 255, 31, 139]).unwrap();
    fs::create_dir(folder.path().join("folder.jsonl")).unwrap();
    twice(folder.path(), first, |collector| {
        assert_eq!(collector.get_by_run("run").unwrap().len(), 2);
        assert!(collector.get_run("run").unwrap().is_some());
    });
    // Its own logs must be readable: an answer without them would be wrong.
    fs::create_dir(folder.path().join("0123456789abcdef.jsonl")).unwrap();
    assert!(collector(folder.path()).get_by_run("run").is_err());
}
