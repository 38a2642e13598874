//! The steps of the first drafts, which have names and no tools.

use antiphon_model::json::Members;

use super::call::Caller;
use super::document::Document;
use super::fields::Fields;

impl Document {
    /// Reads a step as a call of a tool of its name.
    pub(super) fn step(&mut self, caller: &Caller, raw: &str, pointer: &str) {
        let Some(mut step) = Fields::of(raw, pointer.to_owned(), &mut self.notes) else {
            return self.keep(pointer, raw, "is not an object and cannot be a step");
        };
        let mut call = Members::default();
        call.text("call_id", step.take_text("step_id").as_deref());
        let name = step.take_text("step_name");
        call.text("tool_name", name.as_deref());
        call.text("tool_category", name.as_deref().and_then(category));
        call.text("started_at", step.take_text("timestamp").as_deref());
        call.number("duration_ms", step.take_number("duration_ms"));
        let mut input = Members::default();
        match step.take("input") {
            Some(given) if given.starts_with('{') => input.raw("params", given),
            Some(given) => {
                let mut params = Members::default();
                params.raw("input", given);
                input.raw("params", &params.object());
            }
            None => {}
        }
        call.raw("input", &input.object());
        let mut output = Members::default();
        let status = step.take_text("status");
        // A step that was skipped has no result, whatever the reason.
        if status.as_deref() == Some("skipped") && !step.has("error_message") {
            output.word("error", "skipped");
        }
        output.text("status", status.as_deref());
        output.text("error", step.take_text("error_message").as_deref());
        if let Some(result) = step.take("output") {
            output.raw("result", result);
        }
        call.raw("output", &output.object());
        step.rest_into(&mut call);
        self.call(caller, &call.object(), pointer);
    }
}

/// The standard's category of a step of the seven-step model.
fn category(step: &str) -> Option<&'static str> {
    Some(match step {
        "requirement_input" => "interaction",
        "task_decomposition" => "planning",
        "code_generation" | "environment_execution" | "debug_fix" => "action",
        "result_verification" => "perception",
        "memory_consolidation" => "task_management",
        _ => return None,
    })
}
