//! Findings where there are no secrets: in this repository's own files, in real sessions, and in
//! lines that look like secrets.

use std::fs;
use std::path::{Path, PathBuf};

use antiphon_redact::Redactor;

/// Made to be found.
const OWN_EXAMPLES: &[&str] =
    &["antiphon-redact/src/rules/examples.rs", "antiphon-redact/tests/it/", "tests/it/redact"];

fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if path.is_dir() && !path.is_symlink() {
            if !name.starts_with('.') && name != "target" && name != "corpus" {
                files(&path, found);
            }
        } else {
            found.push(path);
        }
    }
}

/// How many lines the files of a folder have, and what is found in them.
#[allow(clippy::print_stdout, reason = "the figures are worth reading")]
fn alarms(folder: &Path) -> (usize, Vec<String>) {
    let mut all = Vec::new();
    files(folder, &mut all);
    all.sort();
    let redactor = Redactor::default();
    let (mut lines, mut alarms) = (0, Vec::new());
    for path in all {
        let name = path.to_string_lossy().into_owned();
        let Ok(text) = fs::read_to_string(&path) else { continue };
        if OWN_EXAMPLES.iter().any(|own| name.contains(own)) {
            continue;
        }
        lines += text.lines().count();
        let mut seen = redactor.find(&text);
        if name.ends_with(".jsonl") {
            for line in text.lines() {
                seen.extend(redactor.find_json(line));
            }
        }
        for finding in seen {
            let text = text.get(finding.range.clone()).unwrap_or_default();
            alarms.push(format!("{name}: {} {text:?}", finding.rule));
        }
    }
    println!("{} alarms in {lines} lines of {}", alarms.len(), folder.display());
    (lines, alarms)
}

#[test]
fn at_most_one_line_of_ten_thousand_is_a_false_alarm() {
    let (lines, alarms) = alarms(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../.."));
    assert!(lines > 10_000, "{lines} lines are too few for a test");
    assert!(alarms.len() * 10_000 <= lines, "{alarms:#?}");
}

#[test]
fn real_sessions_give_hardly_an_alarm() {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    if !data.is_dir() {
        println!("skipped: no real sessions at {}", data.display());
        return;
    }
    let (lines, alarms) = alarms(&data);
    assert!(alarms.len() * 10_000 <= lines, "{alarms:#?}");
}

/// Lines of code and of tools that look like secrets, or are where secrets are.
const ORDINARY: &str = r#"
max_tokens=4096 temperature=0.7 top_p=1
password = getpass()
password = getpass.getpass("Password: ")
token = tokens[i]
token = self.lexer.next_token()
token: Token::Identifier(name), secret: Option<Secret>,
let api_key = std::env::var("API_KEY").unwrap_or_default();
const token = await getAccessToken({ forceRefresh: true });
apiKey: process.env.OPENAI_API_KEY ?? config.apiKey,
if (password !== confirmPassword) return "passwords-do-not-match";
"password": "The password must have eight characters."
<input type="password" name="password" id="password" autocomplete="current-password">
password: ${DB_PASSWORD:-postgres}
PASSWORD={{ vault_db_password }}
token: "<your-token-here>", secret: "changeme", api_key: "xxxxxxxxxxxxxxxx"
secret_name: production-database-credentials
tokenizer: cl100k_base, token_type: bearer, token_count: 128000
input_tokens: 12345678, output_tokens: 87654321, cache_read_input_tokens: 1234567890
commit da39a3ee5e6b4b0d3255bfef95601890afd80709 (HEAD -> main)
sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08  file.tar.gz
"integrity": "sha512-z4PhNX7vuL3xVChQ1m2AB9Yg5AULVxXcg/SpIdNs6c5H0NE8XYXysP+DGNKHfuwvY7kxvUdBeoGlODJ6+SfaPg=="
id: 550e8400-e29b-41d4-a716-446655440000, token: 550e8400-e29b-41d4-a716-446655440000
"next_page_token": "CAESBgoEGgJ4eBgBIgsKCQj5s4qGBhDQ0w", nextToken=eyJOZXh0VG9rZW4iOiBudWxsfQ
csrf_token = "IjNkODVhYjc5ZDE4ZjYwZGI1YTE1YzY2ZTE4ZTQ1"
!function(e,t){"object"==typeof exports?module.exports=t():e.token=t()}(this,function(){return e.password=n.pwd,a});
data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==
Lorem ipsum dolor sit amet, consectetur adipiscing elit, secret: sed do eiusmod tempor
https://example.com/path/to/page?tab=readme&token_type=bearer#password-reset
git checkout -b feature/token-refresh origin/main
docker run -d -p 3306:3306 -e MYSQL_ROOT_PASSWORD=$PASS mysql:8.0
mysql -h localhost -u root -p -P 3306 --protocol=tcp
redis-cli -h cache -a "$REDIS_PASSWORD" ping && sshpass -p "$PASS" ssh host
ports: ["5432:5432:tcp"], localhost:5432:postgres:postgres:$PGPASS
Cookie: theme=dark; lang=en-US; cookie_consent=accepted-all-categories
bypass=enabled compass:north-northwest pass: passthrough, first_pass: optimizations
PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin BY_PATH=/dev/disk/by-path
access_key: config.access_key, private_key: path.join(home, ".ssh", "id_ed25519")
client.login(username, password); session.login("joe", "password")
Authorization: Bearer $TOKEN, "Authorization": `Bearer ${token}`, bearer of good news
re_export_name, re_exported_module_with_a_long_name, re_compile_the_regular_expressions_again
pa-ss, pa-rt-of-a-name-that-is-as-long-as-a-key-of-voyage
API-REFERENCE, API-REFERENCEANDMORE, API-DOCUMENTATIONFORBEGINNERS
AUTH=none, AUTH=basic, NPM_AUTH=$NPM_TOKEN, SMTP_AUTH=plain-over-starttls
he gave the password 'correct' and then the password 'battery-staple' to the clerk
the password is required, the token is expired, the api key is invalid, the secret is out
ENV PATH /usr/local/bin:/usr/bin
ENV TOKENIZERS_PARALLELISM false
ENV DJANGO_SECRET_KEY_FILE /run/secrets/django
pattern.matches(path.join("patches", "patient")), sk_buff, sk_alloc_security, sk_prot_creator_of_the_socket
rnd_seed, figo_ergo_sum, phx_router_helpers, live_view_session_in_the_application, jina_embeddings_v2
api-550e8400-gateway, request-api-550e8400-e29b-41d4-a716-446655440000
- name: LOG_LEVEL
  value: debug
- name: DB_PASSWORD
  valueFrom: {secretKeyRef: {name: database-credentials, key: password}}
- name: DB_PASSWORD_FILE
  value: /run/secrets/db_password
{"name": "password", "value": "", "type": "text"}, {"key": "token", "value": "{{token}}"}
primary_key=True, foreign_key="users.id", sort_key: created_at, cache_key = f"user:{user_id}:profile"
session_key = request.session.session_key, license_key: string, write_key(key, value)
account_key = hashlib.sha256(name.encode()).hexdigest()
password=hash_password(form.password.data), token=generate_token(user_id=1, expires_in=3600)
if password == other.password and token != self.tokens[0]: raise ValueError("password", "token")
password: string; token?: string | undefined; secret: Buffer.from(value, 'base64');
"password": "required|string|min:8|confirmed", "password_confirmation": "same:password"
GRANT ALL ON app.* TO 'app'@'%' IDENTIFIED BY 'password'; ALTER USER app PASSWORD 'changeme';
-----BEGIN CERTIFICATE-----
MIIDdzCCAl+gAwIBAgIEAgAAuTANBgkqhkiG9w0BAQUFADBaMQswCQYDVQQGEwJJRTESMBAGA1UEChMJ
-----END CERTIFICATE-----
a PEM file begins with -----BEGIN PRIVATE KEY----- and ends with -----END PRIVATE KEY-----
github.com/pkg/errors v0.9.1 h1:FEBLx1zS214owpjy7qsBeixbURkuhQAwrK5UwLGTwt4=
    resolved "https://registry.yarnpkg.com/abbrev/-/abbrev-1.1.1.tgz#f8f2c887ad10bf67f634f005b6987fed3179aac8"
  integrity sha512-nne9/IiQ/hzIhY6pdDnbBtz7DjPTKrY00P/zvPSm5pOFkl6xuGrGnXn/VtTNNfNtAfZ9/1RtehkszU9qcTii0Q==
checksum = "d468802bab17cbc0cc575e9b053f41e72aa36bfa6b7f55e3529ffa43161b97fa"
git config --global credential.helper store && npm config set registry https://registry.npmjs.org/
gh secret set API_KEY --body "$API_KEY" && setx API_KEY %API_KEY%
password = input("Password: "); passwd = getpass.getpass(); pwd = os.getcwd()
private_key = serialization.load_pem_private_key(data, password=None)
TOKEN_URL = "https://login.microsoftonline.com/common/oauth2/v2.0/token"
secret_key = app.config["SECRET_KEY"]; api_key = args.api_key or os.environ["API_KEY"]
hooks.zapier.com/hooks/catch/, https://x.webhook.office.com/webhookb2/
Private-Lines: 14 of them follow the public ones
"#;

#[test]
fn ordinary_lines_are_left_alone() {
    let redactor = Redactor::default();
    for line in ORDINARY.lines() {
        let found = redactor.find(line);
        assert!(found.is_empty(), "{line}\n{found:?}");
        let json = serde_json::json!({"content": line, "arguments": {"command": line}});
        let found = redactor.find_json(&json.to_string());
        assert!(found.is_empty(), "{json}\n{found:?}");
    }
}
