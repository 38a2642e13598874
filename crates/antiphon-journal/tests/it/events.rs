//! An event that a program makes is the event that a reader finds.

use std::borrow::Cow;

use antiphon_journal::{Draft, DraftError, LINE_BYTES_MAX, Level, Log, Seal, Sink, Writer};
use antiphon_model::json::Members;
use antiphon_model::{
    AgentCreated, AgentEnded, Annotation, Body, ContextAction, ContextEdited, Event, EventKind,
    Fragment, Json, Line, Loss, Message, Place, Printed, Role, Rule, RunStatus, SessionEnded,
    SessionStarted, Timestamp, ToolCall, Unknown, Usage,
};
use proptest::prelude::*;

use crate::story::{self, Scratch};

type Text = Cow<'static, str>;

/// Words with all that JSON has to escape, and what splits lines elsewhere.
fn text() -> BoxedStrategy<Text> {
    prop_oneof![any::<String>(), "[a-z\"\\\\\n\u{85}\u{2028}é😀]{0,8}"].prop_map(Cow::Owned).boxed()
}

fn word() -> BoxedStrategy<Option<Text>> {
    prop::option::of(text()).boxed()
}

fn words() -> BoxedStrategy<Vec<Text>> {
    prop::collection::vec(text(), 0..3).boxed()
}

/// A value that stays for as long as the tests run, as bodies are borrowed.
fn kept(json: Json) -> Body<'static> {
    Body::of(Box::leak(Box::new(json)))
}

/// A value other than null, which is nothing in a log.
fn value() -> BoxedStrategy<Body<'static>> {
    let number = any::<i64>().prop_map(|number| Json::parse(&number.to_string()).unwrap());
    let object = (text(), text()).prop_map(|(key, value)| {
        let mut members = Members::default();
        members.word(&key, &value);
        members.json("list", &Json::array([Json::text(&key), Json::parse("null").unwrap()]));
        members.to_json()
    });
    prop_oneof![text().prop_map(|text| Json::text(&text)), number, object].prop_map(kept).boxed()
}

fn body() -> BoxedStrategy<Option<Body<'static>>> {
    prop::option::of(value()).boxed()
}

fn time() -> BoxedStrategy<Option<Timestamp>> {
    prop::option::of((0..4_000_000_000_000_i64).prop_map(Timestamp::from_millis)).boxed()
}

fn usage() -> impl Strategy<Value = Option<Usage>> {
    let usage = any::<[u64; 6]>().prop_map(|tokens| Usage {
        input: tokens[0],
        output: tokens[1],
        reasoning: tokens[2],
        cache_read: tokens[3],
        cache_write: tokens[4],
        cache_write_1h: tokens[5],
    });
    prop::option::of(usage)
}

fn tool_call() -> impl Strategy<Value = ToolCall<'static>> {
    // A log's arguments are a string; those of another program become one.
    let arguments = prop::option::of(text().prop_map(|text| kept(Json::text(&text))));
    (text(), text(), arguments, [word(), word(), word()], time()).prop_map(
        |(id, name, arguments, [category, description, raw_command], started_at)| ToolCall {
            id,
            name,
            arguments,
            category,
            description,
            raw_command,
            started_at,
        },
    )
}

fn role() -> impl Strategy<Value = Role> {
    use Role::{Assistant, Other, System, Tool, User};
    prop::sample::select(vec![User, Assistant, Tool, System, Other])
}

fn message() -> impl Strategy<Value = EventKind<'static>> {
    let words_of = prop::array::uniform10(word());
    let bodies = prop::array::uniform6(body());
    let calls = prop::collection::vec(tool_call(), 0..3);
    let cost = prop::option::of(any::<f64>().prop_filter("JSON has it", |cost| cost.is_finite()));
    let figures = (usage(), any::<bool>(), cost, prop::option::of(any::<bool>()));
    let times = (time(), prop::option::of(any::<u64>()));
    (text(), role(), words_of, bodies, calls, words(), figures, times).prop_map(
        |(agent, role, strings, bodies, tool_calls, cause, figures, times)| {
            let [source, utterance_ref, tool_call_id, name, model, ..] = strings.clone();
            let [.., request_id, previous_id, message_type, correlation_id, reply_to] = strings;
            let [content, reasoning, result, context_contribution, subagent_info, payload] = bodies;
            let (usage, usage_partial, cost_usd, is_error) = figures;
            EventKind::Message(Message {
                agent,
                role,
                content,
                more_content: Vec::new(),
                source,
                utterance_ref,
                tool_calls,
                tool_call_id,
                name,
                model,
                request_id,
                usage,
                usage_partial,
                cost_usd,
                reasoning,
                cause,
                previous_id,
                is_error,
                started_at: times.0,
                duration_ms: times.1,
                result,
                context_contribution,
                subagent_info,
                message_type,
                payload,
                correlation_id,
                reply_to,
            })
        },
    )
}

fn agent_created() -> impl Strategy<Value = EventKind<'static>> {
    let rule = prop::option::of(Just(Rule::NameInOpenCall));
    (text(), prop::array::uniform7(word()), words(), body(), rule).prop_map(
        |(agent, strings, cause, task, rule)| {
            let [name, language_model, parent_id, tool_call_id, ..] = strings.clone();
            let [.., agent_type, adapter_id, flavor] = strings;
            EventKind::AgentCreated(AgentCreated {
                agent,
                name,
                language_model,
                parent_id,
                tool_call_id,
                cause,
                agent_type,
                adapter_id,
                flavor,
                task,
                rule,
            })
        },
    )
}

fn session_started() -> impl Strategy<Value = EventKind<'static>> {
    let format = prop::option::of(0..=1_u64);
    (prop::array::uniform12(word()), words(), [body(), body()], format).prop_map(
        |(strings, spec_paths, [cast, forked_from], format)| {
            let [session_id, title, prompt, description, cwd, branch, ..] = strings.clone();
            let [.., program, version, role, issue, run_id, task_id] = strings;
            EventKind::SessionStarted(SessionStarted {
                session_id,
                format,
                title,
                prompt,
                description,
                cwd,
                branch,
                program,
                version,
                role,
                spec_paths,
                issue,
                run_id,
                task_id,
                cast,
                forked_from,
            })
        },
    )
}

fn ends() -> impl Strategy<Value = EventKind<'static>> {
    let agent = (text(), [word(), word()], body()).prop_map(|(agent, [status, error], output)| {
        EventKind::AgentEnded(AgentEnded { agent, status, output, error })
    });
    let session =
        ([word(), word(), word()], body()).prop_map(|([outcome, reason, error], declared)| {
            EventKind::SessionEnded(SessionEnded { outcome, reason, error, declared })
        });
    prop_oneof![agent, session]
}

fn states() -> impl Strategy<Value = EventKind<'static>> {
    use ContextAction::{Branch, Compact, Other, Rewind, Truncate};
    let run = prop::array::uniform5(word()).prop_map(|strings| {
        let [run_id, status, title, feature_branch, base_branch] = strings;
        EventKind::RunStatus(RunStatus { run_id, status, title, feature_branch, base_branch })
    });
    let action = prop::sample::select(vec![Compact, Truncate, Rewind, Branch, Other]);
    let kept_first = prop::option::of(any::<u64>());
    let edit = (text(), action, [body(), body()], kept_first, word()).prop_map(
        |(agent, action, [kept, dropped], kept_first, summary_ref)| {
            EventKind::ContextEdited(ContextEdited {
                agent,
                action,
                kept,
                dropped,
                kept_first,
                summary_ref,
            })
        },
    );
    prop_oneof![run, edit]
}

fn fragment() -> impl Strategy<Value = EventKind<'static>> {
    let printed = (word(), prop::option::of(any::<u64>()), any::<bool>());
    (word(), body(), words(), prop::option::of(printed)).prop_map(
        |(agent, content, cause, printed)| {
            let printed = printed.map(|(stream, times, is_record)| {
                // Nothing is neither a record nor a text.
                Printed { stream, times, is_record: is_record && content.is_some() }
            });
            EventKind::Fragment(Fragment { agent, content, cause, printed })
        },
    )
}

fn loss() -> impl Strategy<Value = EventKind<'static>> {
    let numbers = prop::array::uniform3(prop::option::of(any::<u64>()));
    (any::<bool>(), numbers, word(), [body(), body()]).prop_map(
        |(is_gap, [count, changed, rewritten], reason, [damage, rest])| {
            let loss = Loss { count, changed, rewritten, reason, damage, rest };
            if is_gap { EventKind::Gap(loss) } else { EventKind::Recovered(loss) }
        },
    )
}

fn others() -> impl Strategy<Value = EventKind<'static>> {
    let annotation =
        (word(), value()).prop_map(|(agent, annotation)| Annotation { agent, annotation }.into());
    // A word of ours would be written as another one.
    let unknown = ("x[a-z\"\u{2028}]{0,6}", word(), value()).prop_map(
        |(event_type, agent, raw)| -> EventKind<'static> {
            Unknown { event_type: event_type.into(), agent, raw: Some(raw) }.into()
        },
    );
    prop_oneof![annotation, unknown]
}

fn event() -> impl Strategy<Value = Event<'static>> {
    let kind = prop_oneof![
        3 => message(),
        1 => agent_created(),
        1 => session_started(),
        1 => ends(),
        1 => states(),
        1 => fragment(),
        1 => loss(),
        1 => others(),
    ];
    // An id that is taken already would be a conflict.
    let id = prop::option::of(text().prop_map(|id| Cow::Owned(format!("own {id}"))));
    (id, time(), kind, body()).prop_map(|(message_id, at, kind, extra)| Event {
        message_id,
        at,
        extra,
        ..Event::new(kind)
    })
}

/// What an event says, with its values as they read and without where they stand.
fn said(event: &Event<'_>) -> String {
    let event = Event { line: 0, place: Place::NONE, ..event.clone() };
    let text = format!("{event:?}");
    let mut out = String::new();
    let mut rest = &*text;
    while let Some(at) = rest.find("place: Place { ") {
        out += &rest[..at];
        rest = &rest[at..];
        rest = &rest[rest.find('}').unwrap() + 1..];
    }
    out + rest
}

/// Reads the second line of a log.
#[derive(Default)]
struct Second {
    count: usize,
    said: String,
    id: String,
    at: Option<Timestamp>,
}

impl Sink for Second {
    fn event(&mut self, event: &Event<'_>, _: &Line<'_>, _: Option<&Seal>) {
        self.count += 1;
        self.said = said(event);
        self.id = event.message_id.as_deref().unwrap_or_default().to_owned();
        self.at = event.at;
    }

    fn damage(&mut self, damage: antiphon_journal::Damage) {
        panic!("{damage:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn an_event_is_read_as_it_was_made(event in event()) {
        let scratch = Scratch::new();
        let writer = Writer::open(&scratch.path, story::options(Level::Os)).unwrap();
        // The first line of a log is completed by the writer.
        let first = Event::new(SessionStarted::default());
        writer.append(&Draft::from_event(&first).unwrap()).unwrap();
        writer.append(&Draft::from_event(&event).unwrap()).unwrap();
        drop(writer);
        let mut second = Second::default();
        Log::find(&scratch.path).unwrap().read(&mut second).unwrap();
        prop_assert_eq!(second.count, 2);
        // The writer gives what is missing.
        let message_id = event.message_id.clone().or(Some(second.id.into()));
        let event = Event { message_id, at: event.at.or(second.at), ..event };
        prop_assert_eq!(second.said, said(&event));
    }

    #[test]
    fn an_event_is_the_draft_that_its_text_is(event in event()) {
        let text = event.to_json();
        prop_assert!(!text.contains(['\n', '\r', '\u{85}', '\u{2028}', '\u{2029}']), "{}", text);
        prop_assert_eq!(Draft::from_event(&event), Draft::from_json(&text));
    }
}

#[test]
fn what_no_log_of_ours_may_say_is_refused() {
    let newer = Event::new(SessionStarted { format: Some(2), ..SessionStarted::default() });
    assert_eq!(Draft::from_event(&newer), Err(DraftError::NewerFormat(2)));
    let long = Json::text(&"x".repeat(LINE_BYTES_MAX));
    let message = Event::new(Message::new("a", Role::User).saying(&long));
    assert!(matches!(Draft::from_event(&message), Err(DraftError::TooLong(_))));
    // The id is in the line, too, and each of its characters may take six bytes.
    let id = Some(Cow::Owned("\u{85}".repeat(LINE_BYTES_MAX / 5)));
    let message = Event { message_id: id, ..Event::new(Message::new("a", Role::User)) };
    assert!(matches!(Draft::from_event(&message), Err(DraftError::TooLong(_))));
}

#[test]
fn a_value_over_several_lines_becomes_one() {
    let spread = Json::parse("{ \"a\" :\n [1.50,\r\n\"\u{2028}\\ud800\"] }").unwrap();
    let message = Event::new(Message::new("a", Role::User).saying(&spread));
    let wanted = r#"{"agent_id":"a","role":"user","content":{ "a" :  [1.50,  "\u2028\ud800"] }}"#;
    assert_eq!(message.to_json(), wanted);
    assert_eq!(Draft::from_event(&message), Draft::from_json(wanted));
}

#[test]
fn another_programs_word_for_its_event_is_none_of_ours() {
    let raw = Json::parse(r#"{"type":"message"}"#).unwrap();
    let unknown = Unknown { event_type: "message".into(), agent: None, raw: Some(Body::of(&raw)) };
    let draft = Draft::from_event(&Event::new(unknown)).unwrap();
    let wanted = r#"{"event_type":"unknown_message","raw":{"type":"message"}}"#;
    assert_eq!(draft, Draft::from_json(wanted).unwrap());
}
