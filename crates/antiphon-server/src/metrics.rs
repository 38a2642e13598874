//! What the server counts, as OpenMetrics text.

use std::fmt::Write as _;
use std::sync::atomic::{AtomicU64, Ordering};

use axum::http::StatusCode;

#[derive(Debug, Default)]
pub(crate) struct Metrics {
    requests: AtomicU64,
    answers: [AtomicU64; 5],
    pub(crate) events_in: Counter,
    pub(crate) spans_in: Counter,
    pub(crate) spans_refused: Counter,
    pub(crate) bytes_in: Counter,
}

#[derive(Debug, Default)]
pub(crate) struct Counter(AtomicU64);

impl Counter {
    pub(crate) fn add(&self, count: u64) {
        self.0.fetch_add(count, Ordering::Relaxed);
    }
}

/// What is asked of others when the metrics are written.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Gauges {
    pub(crate) listeners: usize,
    pub(crate) sessions: usize,
    pub(crate) session_bytes: usize,
    pub(crate) working: usize,
}

impl Metrics {
    pub(crate) fn count_request(&self) {
        self.requests.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn count_answer(&self, status: StatusCode) {
        let class = usize::from(status.as_u16() / 100).saturating_sub(1);
        if let Some(count) = self.answers.get(class) {
            count.fetch_add(1, Ordering::Relaxed);
        }
    }

    pub(crate) fn text(&self, gauges: Gauges) -> String {
        let mut text = String::new();
        let mut family = |name: &str, kind: &str, help: &str, rows: &[(&str, u64)]| {
            let _ = writeln!(text, "# TYPE antiphon_{name} {kind}");
            let _ = writeln!(text, "# HELP antiphon_{name} {help}");
            let suffix = if kind == "counter" { "_total" } else { "" };
            for (labels, value) in rows {
                let _ = writeln!(text, "antiphon_{name}{suffix}{labels} {value}");
            }
        };
        let get = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let wide = |number: usize| u64::try_from(number).unwrap_or(u64::MAX);
        family("requests", "counter", "Requests that arrived.", &[("", get(&self.requests))]);
        let classes = ["1xx", "2xx", "3xx", "4xx", "5xx"];
        let labels: Vec<String> = classes.iter().map(|it| format!("{{status=\"{it}\"}}")).collect();
        let rows: Vec<(&str, u64)> =
            labels.iter().map(String::as_str).zip(self.answers.iter().map(get)).collect();
        family("answers", "counter", "Answers, by the class of their status.", &rows);
        let counters = [
            ("events_in", "Events that were recorded.", &self.events_in),
            ("spans_in", "Spans and log records that were kept.", &self.spans_in),
            ("spans_refused", "Spans that were refused.", &self.spans_refused),
            ("bytes_in", "Bytes of bodies, unpacked.", &self.bytes_in),
        ];
        for (name, help, counter) in counters {
            family(name, "counter", help, &[("", get(&counter.0))]);
        }
        let measures = [
            ("listeners", "Streams that are open.", gauges.listeners),
            ("opened_sessions", "Sessions that are held in memory.", gauges.sessions),
            ("opened_bytes", "How much memory they take, about.", gauges.session_bytes),
            ("queue", "Answers that are being worked out.", gauges.working),
        ];
        for (name, help, value) in measures {
            family(name, "gauge", help, &[("", wide(value))]);
        }
        text.push_str("# EOF\n");
        text
    }
}
