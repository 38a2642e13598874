//! Pages of sessions whose truth is known.

use antiphon_model::{Line, MemoryBodies, Place, Reading, Session, Zone, decode};
use antiphon_views::Prices;

use crate::text::Clean;
use crate::{Page, write_html, write_markdown};

/// Calls `look` with the page of a log in memory.
fn with_page<T>(log: &[String], look: impl FnOnce(&Page<'_>) -> T) -> T {
    let mut session = Session::default();
    let mut text = String::new();
    for (number, line) in (1..).zip(log) {
        let (offset, len) = (text.len() as u64, u32::try_from(line.len()).unwrap());
        session.apply(&decode(&Line::new(line, number, Place { offset, len, stream: 0 })).unwrap());
        text.push_str(line);
        text.push('\n');
    }
    let bodies = MemoryBodies::new(vec![text.into_bytes()]);
    let redact = |text: &str| text.replace("SECRET", "[redacted:test]");
    look(&Page {
        reading: Reading { session: &session, bodies: &bodies },
        session_id: "the-session",
        product: "Some Agent",
        root: Some("/code/shop"),
        prices: &Prices::bundled(),
        zone: &Zone::utc(),
        redact: &redact,
        is_redacted: true,
        with_images: false,
    })
}

pub(crate) fn clean(text: &str) -> Clean {
    with_page(&[], |page| page.clean(text))
}

fn html(log: &[String]) -> String {
    written(log, |page, out| write_html(page, out))
}

fn markdown(log: &[String]) -> String {
    written(log, |page, out| write_markdown(page, out))
}

fn written(
    log: &[String],
    write: impl FnOnce(&Page<'_>, &mut dyn std::io::Write) -> Result<(), crate::PageError>,
) -> String {
    with_page(log, |page| {
        let mut out = Vec::new();
        write(page, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    })
}

const HOSTILE: &[&str] = &[
    "<script>alert(1)</script>",
    "</title><script>alert(1)</script>",
    "</style></pre></code></summary></details></main><script src=https://example.org/x.js></script>",
    "\" onmouseover=\"alert(1)\" x=\"",
    "' onfocus='alert(1)' autofocus='",
    "<svg onload=alert(1)><animate onbegin=alert(1)></svg>",
    "<img src=x onerror=alert(1)>",
    "[click](javascript:alert(1)) ![pixel](https://example.org/pixel.png)",
    "<a href=\"javascript:alert(1)\">x</a> <https://example.org/>",
    "<!-- --><![CDATA[ ]]><?php ?>",
    "```\n</details>\n````\n<b>x</b>",
    "# User\n\nUser\n====\n\n> I agree",
    "evil\u{202e}gpj.exe \u{2066}\u{2069} \u{200b}\u{feff} \u{e0041}",
    "\u{1b}[31mred\u{1b}[0m \u{1b}]8;;https://example.org\u{7}link\u{1b}]8;;\u{7} \u{9b}2J",
    "a\0b\u{fffe}\u{ffff}\u{2028}",
    "&lt;script&gt; &#60;script&#62; &amp;",
    "| a | b |\n|---|---|\n| <script> | [x]: https://example.org/ |",
    "]]>--></textarea></noscript><iframe srcdoc='<script>alert(1)</script>'>",
];

/// A session with this text in every field that holds any.
fn everywhere(hostile: &str) -> Vec<String> {
    let text = serde_json::to_string(hostile).unwrap();
    let arguments = serde_json::to_string(&format!(
        "{{\"file_path\":{text},\"old_string\":\"a\",\"new_string\":{text},{text}:{text}}}"
    ))
    .unwrap();
    let command =
        serde_json::to_string(&format!("{{\"command\":{text},{text}:[{text}]}}")).unwrap();
    [
        r#"{"event_type":"session_started","title":T,"cwd":T,"branch":T,"program":T,"version":T,"session_id":T}"#,
        r#"{"message_id":"made","event_type":"agent_created","agent_id":T,"name":T,"agent_type":T,"llm":T}"#,
        r#"{"message_id":T,"agent_id":T,"role":"user","content":T}"#,
        r#"{"message_id":"s1","agent_id":T,"role":"system","content":T}"#,
        r#"{"message_id":"a1","agent_id":T,"role":"assistant","content":T,"reasoning":T,"model":T,"usage":{"input":1,"output":1},"tool_calls":[{"id":"c1","function":{"name":T,"arguments":C}},{"id":"c2","function":{"name":"Edit","arguments":A}},{"id":"c3","function":{"name":"task","arguments":C}}]}"#,
        r#"{"message_id":"r1","agent_id":T,"role":"tool","tool_call_id":"c1","content":T,"is_error":true}"#,
        r#"{"message_id":"r2","agent_id":T,"role":"tool","tool_call_id":"c2","content":[{"type":"text","text":T},{"type":T,"mimeType":"image/png","data":T}]}"#,
        r#"{"message_id":"m2","event_type":"agent_created","agent_id":"b","name":T,"parent_id":T,"tool_call_id":"c3"}"#,
        r#"{"message_id":"b1","agent_id":"b","role":"user","content":T}"#,
        r#"{"message_id":"b2","agent_id":"b","role":"assistant","content":[{"type":"text","text":T},{"type":T}],"usage":{"input":1,"output":1},"model":T}"#,
        r#"{"message_id":"r3","agent_id":T,"role":"tool","tool_call_id":"c3","content":T}"#,
        r#"{"message_id":"r4","agent_id":T,"role":"tool","tool_call_id":"nobody","content":T}"#,
        r#"{"message_id":"m5","agent_id":T,"role":"user","source":"b","content":T}"#,
        r#"{"event_type":"session_ended","outcome":T,"reason":T,"error":T}"#,
    ]
    .iter()
    .map(|line| line.replace(":T", &format!(":{text}")).replace(":A", &format!(":{arguments}")).replace(":C", &format!(":{command}")))
    .collect()
}

const ELEMENTS: &str = "html head meta title style body main header h1 h2 h3 h4 h5 dl div dt dd details summary span \
                        ol ul li a table tr td th code b p br svg rect section time pre ins del em strong s \
                        blockquote hr i footer";

/// Every tag of a page, with its attributes; what is no tag that the page writes fails.
fn check_tags(page: &str) {
    let body = page
        .split_once("</style>")
        .map(|(head, body)| (head.split_once("<style>").unwrap().0.to_owned(), body.to_owned()));
    let (head, body) = body.unwrap();
    for part in [head.trim_start_matches("<!doctype html>"), &body] {
        for tag in part.split('<').skip(1) {
            let (tag, _) = tag.split_once('>').unwrap_or_else(|| panic!("`<{tag}` has no end"));
            let mut words = tag.trim_start_matches('/').splitn(2, ' ');
            let name = words.next().unwrap();
            assert!(ELEMENTS.split_whitespace().any(|it| it == name), "<{tag}>");
            let mut rest = words.next().unwrap_or_default();
            while !rest.is_empty() {
                let Some((attribute, more)) = rest.split_once("=\"") else {
                    assert!(matches!(rest, "open" | "/"), "<{tag}>");
                    break;
                };
                let (value, more) = more.split_once('"').unwrap();
                rest = more.trim_start();
                match attribute.trim() {
                    "href" => {
                        assert!(value.starts_with("#m") || value.starts_with("#c"), "<{tag}>");
                    }
                    "class" | "id" | "start" | "width" | "height" | "rx" | "lang" | "charset"
                    | "name" | "aria-hidden" | "aria-label" => {
                        let is_plain = |c: char| c.is_ascii_alphanumeric() || " -%.".contains(c);
                        assert!(value.chars().all(is_plain), "<{tag}>");
                    }
                    "http-equiv" | "content" => assert_eq!(name, "meta", "<{tag}>"),
                    "open id" | "id open" => {}
                    other => panic!("`{other}` in <{tag}>"),
                }
            }
        }
        let hidden = |c: char| antiphon_model::is_dangerous(c) && c != '\n' && c != '\t';
        assert!(!part.contains(hidden), "{:?}", part.chars().find(|c| hidden(*c)));
    }
}

#[test]
fn no_recorded_text_becomes_markup() {
    for hostile in HOSTILE {
        let page = html(&everywhere(hostile));
        check_tags(&page);
    }
    let long = "<b>".repeat(20_000);
    check_tags(&html(&everywhere(&long)));
}

#[test]
fn no_recorded_text_is_html_or_fetches_anything_in_markdown() {
    use pulldown_cmark::{Event, Options, Parser, Tag};
    for hostile in HOSTILE {
        let text = markdown(&everywhere(hostile));
        let ours = ["<details>", "</details>", "<summary>", "</summary>"];
        let mut folded = 0_i32;
        for event in Parser::new_ext(&text, Options::ENABLE_TABLES) {
            if let Event::Html(html) | Event::InlineHtml(html) = &event {
                folded += i32::try_from(html.matches("<details>").count()).unwrap();
                folded -= i32::try_from(html.matches("</details>").count()).unwrap();
                let rest = ours.iter().fold(html.to_string(), |html, tag| html.replace(tag, ""));
                assert!(!rest.contains('<'), "{hostile:?}: {html}");
            }
            if let Event::Start(Tag::Image { dest_url, .. }) = event {
                panic!("{hostile:?}: {dest_url}");
            }
        }
        assert_eq!(folded, 0, "{hostile:?}: {text}");
        // Nobody speaks as the user who is not.
        let spoken = text.lines().filter(|line| line.starts_with("## User")).count();
        assert_eq!(spoken, 1, "{hostile:?}: {text}");
        let hidden = |c: char| antiphon_model::is_dangerous(c) && c != '\n' && c != '\t';
        assert!(!text.contains(hidden), "{hostile:?}");
    }
}

#[test]
fn a_secret_is_gone_before_anything_is_cut() {
    // In colours, over the edge of what is shown of an output, and in a name.
    for before in (16_370..16_400).step_by(3) {
        let output = format!("{}SEC\u{1b}[31mRET{}", "x".repeat(before), "y".repeat(60_000));
        let mut log = everywhere("SECRET");
        log.push(format!(
            r#"{{"message_id":"big","agent_id":"SECRET","role":"tool","tool_call_id":"c1","content":{}}}"#,
            serde_json::to_string(&output).unwrap()
        ));
        for page in [html(&log), markdown(&log)] {
            assert!(page.contains("[redacted:test]") || page.contains("redacted:test"));
            for part in ["SECRET", "xSEC", "xSE", "RETy", "ETy"] {
                assert!(!page.contains(part), "{part} {before}");
            }
        }
    }
}

#[test]
fn pictures_are_there_only_if_they_are_wanted() {
    let png = "iVBORw0KGgoAAAANSUhEUgAAAAE=";
    let log = vec![format!(
        r#"{{"message_id":"p","agent_id":"a","role":"user","content":[{{"type":"text","text":"so:"}},{{"type":"image","source":{{"type":"base64","media_type":"image/png","data":"{png}"}}}}]}}"#
    )];
    assert!(!html(&log).contains(png) && !markdown(&log).contains(png));
    assert!(!html(&log).contains("img-src") && html(&log).contains("a picture, left out"));
    with_page(&log, |page| {
        let page = Page { with_images: true, ..*page };
        let (mut html, mut markdown) = (Vec::new(), Vec::new());
        write_html(&page, &mut html).unwrap();
        write_markdown(&page, &mut markdown).unwrap();
        for text in [html, markdown] {
            assert!(
                String::from_utf8(text).unwrap().contains(&format!("data:image/png;base64,{png}"))
            );
        }
    });
}

#[test]
fn agents_that_are_nested_without_end_are_all_there() {
    let mut log = Vec::new();
    for n in 0..300 {
        let parent = if n == 0 { String::new() } else { format!(r#","parent_id":"a{}""#, n - 1) };
        log.push(format!(
            r#"{{"message_id":"m{n}","event_type":"agent_created","agent_id":"a{n}"{parent}}}"#
        ));
        log.push(format!(
            r#"{{"message_id":"s{n}","agent_id":"a{n}","role":"assistant","content":"word{n}."}}"#
        ));
    }
    let page = html(&log);
    for n in 0..300 {
        assert!(page.contains(&format!("word{n}.")), "{n}");
    }
    let depth = |page: &str| {
        let (mut now, mut most) = (0_i32, 0);
        for part in page.split('<') {
            now += i32::from(part.starts_with("details")) - i32::from(part.starts_with("/details"));
            most = most.max(now);
        }
        (now, most)
    };
    assert_eq!(depth(&page).0, 0);
    assert!(depth(&page).1 < 20, "{:?}", depth(&page));
}
