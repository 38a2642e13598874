use antiphon_model::EventKind;

use crate::tests::fixture;

fn check(case: &str) -> [u64; 5] {
    fixture::check("swe-agent", case)
}

#[test]
fn an_action_gives_something_back() {
    assert_eq!(check("minimal"), [100, 20, 0, 0, 0]);
}

#[test]
fn a_history_with_calls() {
    assert_eq!(check("calls"), [0; 5]);
}

#[test]
fn the_answers_of_the_service_are_kept() {
    assert_eq!(check("mini"), [40, 5, 0, 10, 0]);
}

#[test]
fn a_run_with_all_that_there_is() {
    assert_eq!(check("full"), [1000, 50, 0, 0, 0]);
}

#[test]
fn a_demonstration_is_not_the_agents() {
    assert_eq!(check("demonstration"), [300, 20, 0, 0, 0]);
}

#[test]
fn calls_come_back_in_any_order() {
    assert_eq!(check("mini-calls"), [40 + 10, 9 + 1, 4, 60, 0]);
}

#[test]
fn a_person_may_reject_what_the_agent_does() {
    assert_eq!(check("interactive"), [10 + 20, 1 + 2, 0, 0, 0]);
}

#[test]
fn a_cost_is_counted_once() {
    let cost = |case: &str| -> f64 {
        let fixture = fixture::Fixture::load(&fixture::root().join("swe-agent").join(case));
        let streams = fixture.streams();
        let events = fixture::read(fixture.format, &streams).events;
        let costs = events.iter().filter_map(|event| {
            let EventKind::Message(message) = &event.kind else { return None };
            message.cost_usd
        });
        costs.sum()
    };
    // The cost is with the answers, or else with the run.
    assert!((cost("mini-calls") - 0.375).abs() < 1e-9);
    assert!((cost("mini") - 0.5).abs() < 1e-9);
    assert!((cost("demonstration") - 1.5).abs() < 1e-9);
}
