//! Values that are recognised only by their names: every name in every form of assignment.

use antiphon_redact::{Counts, Redactor};

use crate::kinds::{Chance, Kind};

/// Names, and what their values consist of.
const NAMES: &[(&str, &str)] = &[
    ("ACCOUNT_KEY", "{b64:43}="),
    ("ADMIN_KEY", "{hex:32}"),
    ("APIKey", "{an:32}"),
    ("API_Key", "{an:32}"),
    ("CONSUMER_KEY", "{an:32}"),
    ("DBPW", "{an:16}"),
    ("DB_PASSWORD", "{an:12}"),
    ("DEPLOY_KEY", "{an:40}"),
    ("FERNET_KEY", "{url:43}="),
    ("HMAC_KEY", "{hex:64}"),
    ("JWT_SECRET", "{b64:43}"),
    ("NEW_RELIC_LICENSE_KEY", "{hex:36}NRAL"),
    ("RAPIDAPI_KEY", "{hex:50}"),
    ("REGISTRY_AUTH", "{an:32}"),
    ("SECRET_KEY", "{hex:64}"),
    ("SEGMENT_WRITE_KEY", "{an:32}"),
    ("SERVICE_TOKEN", "{an:24}"),
    ("SMTP_PASSWORD", "{sym:16}"),
    ("SNYK_TOKEN", "{uuid:1}"),
    ("account_key", "{an:32}"),
    ("credentials", "{an:32}"),
    ("dbpass", "{an:16}"),
    ("deployKey", "{an:40}"),
    ("licenseKey", "{an:32}"),
    ("password", "{human:1}"),
    ("session_key", "{hex:32}"),
    ("snyk_token", "{uuid:1}"),
];

/// Forms of assignment: `@` is the name, and `{}` the value.
const WAYS: &[(&str, &str)] = &[
    ("environment", "export @={}\n"),
    (".env", "FIRST=1\n@={}\nLAST=2\n"),
    (".env in quotes", "@=\"{}\"\n"),
    ("JSON", "{\"port\": 1, \"@\": \"{}\", \"x\": 2}"),
    ("YAML", "config:\n  @: {}\n  port: 80\n"),
    ("YAML in quotes", "  @: '{}'\n"),
    ("shell", "docker run -e @='{}' image"),
    ("PowerShell", "$env:@ = \"{}\""),
    ("Python", "os.environ[\"@\"] = \"{}\""),
    ("PHP", "\"@\" => \"{}\","),
    ("Go", "@ := \"{}\""),
    ("HTTP header", "GET / HTTP/1.1\r\n@: {}\r\nHost: x\r\n"),
    ("URL", "https://api.internal/v1?x=1&@={}&y=2"),
    ("XML", "<@>{}</@>"),
    ("Dockerfile", "FROM x\nENV @ {}\nRUN y\n"),
    ("Dockerfile with =", "ENV @={}\n"),
    ("setx", "setx @ {}\n"),
    ("gh secret set", "gh secret set @ --body \"{}\""),
    ("kubernetes", "env:\n  - name: @\n    value: {}\n  - name: x\n"),
    ("kubernetes in JSON", "{\"env\": [{\"name\": \"@\", \"value\": \"{}\"}]}"),
    ("java", "java -D@={} -jar x"),
    ("tool output", "     1\tx\n     2\t@={}\n     3\ty\n"),
];

const INSTANCES: usize = 40;

/// Escaped as in a URL.
fn escaped(text: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    let escape = |c: char| if plain(c) { c.to_string() } else { format!("%{:02X}", u32::from(c)) };
    text.chars().map(escape).collect()
}

#[test]
fn every_name_is_known_in_every_way_of_assigning() {
    let redactor = Redactor::default();
    let (mut made, mut found, mut poor) = (0, 0, Vec::new());
    let mut by_name = vec![0; NAMES.len()];
    for (way, form) in WAYS {
        let mut of_way = 0;
        for (at, (name, value)) in NAMES.iter().enumerate() {
            let kind = Kind { name: "", form: value, is_token: false };
            let mut chance = Chance(at as u64 + 77);
            for _ in 0..INSTANCES {
                let mut instance = kind.make(&mut chance);
                if form.starts_with("https:") {
                    instance.text = escaped(&instance.text);
                    instance.parts = vec![instance.text.clone()];
                }
                let text = form.replace('@', name).replace("{}", &instance.text);
                let clean = redactor.redact_document(&text, &mut Counts::default());
                match instance.leaked_in(&clean) {
                    None => (of_way, by_name[at]) = (of_way + 1, by_name[at] + 1),
                    Some(_) if INSTANCES * 20 > by_name[at] => println!("    missed: {clean:?}"),
                    Some(_) => {}
                }
            }
        }
        println!("{way:30} {of_way} of {}", NAMES.len() * INSTANCES);
        made += NAMES.len() * INSTANCES;
        found += of_way;
        if of_way * 100 < NAMES.len() * INSTANCES * 95 {
            poor.push(*way);
        }
    }
    for ((name, _), found) in NAMES.iter().zip(&by_name) {
        let made = WAYS.len() * INSTANCES;
        println!("{name:30} {found} of {made}");
        if found * 100 < made * 95 {
            poor.push(name);
        }
    }
    println!("{found} of {made}");
    assert!(poor.is_empty(), "below 95 of 100: {poor:?}");
    assert!(found * 100 >= made * 99, "{found} of {made}");
}
