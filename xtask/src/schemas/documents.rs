//! The documents that commands print with `--json`, and the type of each.

use antiphon_documents::ValidatedFile;
use antiphon_library::{
    ConfigRow, CostLedger, DigestReport, DoctorReport, FormatSupport, ListedSession, Refreshed,
    Resumption, ScanReport, SearchHit, StatsReport, SyncReport, VerifiedSession,
};
use antiphon_server::{Address, ListedToken};
use antiphon_views::{
    Blame, CallRow, CallStats, Causality, Changes, Context, ContextLink, CostTree, Delivery, Flow,
    HookEpisode, LogLine, Perspective, Phase, Run, RunDiff, RunTree, SessionOverview, Span,
    SpanNode, TimelineRow, TraceStep, Tree, Utterance,
};
use schemars::generate::{SchemaGenerator, SchemaSettings};
use schemars::transform::RecursiveTransform;
use schemars::{JsonSchema, Schema};
use serde_json::{Map, Value};

/// A document.
pub(super) struct Document {
    /// The command that prints it, with the option that selects it.
    pub(super) command: &'static str,
    root: fn(SchemaGenerator) -> Schema,
    pub(super) define: fn(&mut SchemaGenerator) -> Schema,
}

// A new document: its row here, then `cargo xtask schemas`.
pub(super) const DOCUMENTS: &[Document] = &[
    Document::of::<Blame>("blame"),
    Document::of::<Changes>("changes"),
    // JSON Lines, as of `tail`.
    Document::of::<LogLine>("chat"),
    Document::of::<Vec<ConfigRow>>("config"),
    Document::of::<RunDiff>("diff"),
    Document::of::<DigestReport>("digest"),
    Document::of::<DoctorReport>("doctor"),
    Document::of::<Vec<FormatSupport>>("formats"),
    Document::of::<Vec<ListedSession<'static>>>("ls"),
    Document::of::<Address>("open"),
    Document::of::<Refreshed>("reindex"),
    Document::of::<Resumption>("resume"),
    Document::of::<ScanReport>("scan"),
    Document::of::<Vec<SearchHit>>("search"),
    Document::of::<Address>("serve"),
    Document::of::<SessionOverview>("show"),
    Document::of::<StatsReport>("stats"),
    // The same for `--by command` and `--by error`.
    Document::of::<StatsReport<CallStats>>("stats --by tool"),
    Document::of::<SyncReport>("sync"),
    // JSON Lines: this is one of them.
    Document::of::<LogLine>("tail"),
    Document::of::<Vec<ListedToken>>("token ls"),
    Document::of::<Vec<ValidatedFile>>("validate"),
    Document::of::<Vec<VerifiedSession>>("verify"),
    Document::of::<Vec<CallRow>>("view calls"),
    Document::of::<Causality>("view causality"),
    Document::of::<Context>("view context"),
    Document::of::<Vec<ContextLink>>("view context-links"),
    Document::of::<CostTree>("view cost"),
    Document::of::<CostLedger>("view cost --ledger"),
    Document::of::<Vec<Delivery>>("view delivery"),
    Document::of::<Vec<Utterance>>("view dialog"),
    Document::of::<Flow>("view flow"),
    Document::of::<Vec<HookEpisode>>("view hooks"),
    Document::of::<Vec<Perspective>>("view perspective"),
    Document::of::<Vec<Phase>>("view phases"),
    Document::of::<Run>("view run"),
    Document::of::<RunTree>("view run --tree"),
    Document::of::<Vec<Span>>("view spans"),
    Document::of::<Vec<SpanNode>>("view spans --tree"),
    Document::of::<Vec<TimelineRow>>("view timeline"),
    Document::of::<Vec<TraceStep>>("view trace"),
    Document::of::<Vec<LogLine>>("view transcript"),
    Document::of::<Tree>("view tree"),
];

impl Document {
    const fn of<T: JsonSchema>(command: &'static str) -> Self {
        Self {
            command,
            root: SchemaGenerator::into_root_schema_for::<T>,
            define: SchemaGenerator::subschema_for::<T>,
        }
    }

    /// The name of its file: `view-cost-ledger` for `view cost --ledger`.
    pub(super) fn file_stem(&self) -> String {
        self.command.replace(" --", "-").replace(' ', "-")
    }

    /// The schema of the whole document, with everything that it refers to.
    pub(super) fn schema(&self) -> Value {
        let mut schema = (self.root)(generator());
        schema.insert("title".to_owned(), format!("antiphon {} --json", self.command).into());
        let item = schema.pointer("/items/$ref").and_then(Value::as_str).map(str::to_owned);
        let about = item.and_then(|item| schema.pointer(item.trim_start_matches('#'))).cloned();
        if let Some(about) = about.as_ref().and_then(|item| item.get("description")?.as_str()) {
            schema.insert("description".to_owned(), format!("A list. Each item: {about}").into());
        }
        schema.into()
    }
}

/// All types under their names, and each document in terms of them.
pub(super) fn definitions(documents: &[Document]) -> (Map<String, Value>, Vec<(&str, Value)>) {
    let mut generator = generator();
    let roots = documents.iter().map(|it| (it.command, (it.define)(&mut generator).into()));
    let roots = roots.collect();
    (generator.take_definitions(true), roots)
}

/// A generator for what is written, not for what is read.
fn generator() -> SchemaGenerator {
    let settings = SchemaSettings::draft2020_12().for_serialize();
    settings.with_transform(RecursiveTransform(absent_or_there)).into_generator()
}

/// Makes an optional member absent instead of null: no type here writes both.
fn absent_or_there(schema: &mut Schema) {
    let required = schema.get("required").and_then(Value::as_array).cloned().unwrap_or_default();
    let Some(Value::Object(members)) = schema.get_mut("properties") else { return };
    for (name, member) in members {
        if let Value::Object(member) = member
            && !required.iter().any(|it| it == name)
        {
            without_null(member);
        }
    }
}

fn without_null(schema: &mut Map<String, Value>) {
    if let Some(Value::Array(types)) = schema.get_mut("type") {
        types.retain(|it| it != "null");
        if let [only] = types.as_slice() {
            let only = only.clone();
            schema.insert("type".to_owned(), only);
        }
    }
    if let Some(Value::Array(parts)) = schema.get_mut("anyOf") {
        parts.retain(|part| part.get("type").is_none_or(|it| it != "null"));
        if let [Value::Object(only)] = parts.as_slice() {
            let only = only.clone();
            schema.remove("anyOf");
            schema.extend(only);
        }
    }
}
