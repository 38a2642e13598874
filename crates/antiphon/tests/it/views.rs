//! Every view of a sample, as text and as JSON. Read a changed snapshot before accepting it.

use crate::run::antiphon;

/// Snapshots `antiphon view VIEW samples/SAMPLE.jsonl …` under the test's own name.
macro_rules! view {
    ($($name:ident: $view:literal of $sample:literal $(with $more:literal)?;)+) => {$(
        #[test]
        fn $name() {
            let more = concat!($($more)?);
            let command = format!("view {} samples/{}.jsonl {more}", $view, $sample);
            insta::assert_snapshot!(stringify!($name), antiphon(&command));
        }
    )+};
}

view! {
    tree_of_inferred_parents: "tree" of "jack-and-jill";
    tree_of_recorded_parents: "tree" of "resource-hook";
    tree_as_json: "tree" of "inner-monologue" with "--json";
    transcript_of_one_agent: "transcript" of "inner-monologue" with "--agent Inner";
    transcript_as_json: "transcript" of "watcher" with "--agent agent_001 --json";
    dialog_of_two: "dialog" of "inner-monologue" with "--agent jack --agent Jill";
    dialog_that_one_heard: "dialog" of "inner-monologue" with "--heard-by Jack --json";
    perspective_with_inner_voices: "perspective" of "inner-monologue" with "--agent Jill --inner";
    perspective_up_to_a_step: "perspective" of "debate" with "--agent Judge --at msg_025 --json";
    context_after_compaction: "context" of "socratic-lesson" with "--agent Teacher";
    context_before_compaction: "context" of "socratic-lesson" with "--agent Teacher --at msg_020 --json";
    causality_of_a_discussion: "causality" of "jack-and-jill";
    causality_as_json: "causality" of "resource-hook" with "--json";
    delivery_of_everything: "delivery" of "debate";
    delivery_of_one_as_json: "delivery" of "debate" with "msg_033 --json";
    hooks_that_approve_and_deny: "hooks" of "resource-hook";
    hooks_as_json: "hooks" of "resource-hook" with "--json";
    flow_of_a_hook: "flow" of "resource-hook";
    flow_as_json: "flow" of "watcher" with "--json";
    flow_as_mermaid: "flow" of "debate" with "--mermaid";
    timeline_with_lanes: "timeline" of "watcher";
    timeline_as_json: "timeline" of "watcher" with "--json";
}

/// From the blocked call's result back to whoever asked.
#[test]
fn trace_of_a_blocked_call() {
    insta::assert_snapshot!(antiphon("view trace samples/resource-hook.jsonl msg_023"));
}

#[test]
fn trace_forward_of_an_utterance() {
    insta::assert_snapshot!(antiphon("view trace samples/debate.jsonl msg_033 --forward --json"));
}
