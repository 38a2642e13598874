//! Kinds of secrets, and a generator of any number of each: the same on every run, and none of them
//! in this file.
//!
//! A form is a text with holes. `{hex:32}` is a secret part of 32 hex digits, `{an:12-20}` one of
//! 12 to 20 letters and digits; `{~an:8}` is filled as well, and is no secret.

/// A kind of secret, and the text that contains it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Kind {
    pub(crate) name: &'static str,
    pub(crate) form: &'static str,
    /// Whether the secret is recognised by its own form, so that it may be anywhere.
    pub(crate) is_token: bool,
}

/// A text with a secret, and its secret parts.
#[derive(Debug)]
pub(crate) struct Instance {
    pub(crate) text: String,
    pub(crate) parts: Vec<String>,
}

impl Instance {
    /// A part of the secret of which several consecutive characters are in a text: half a secret is
    /// a leak.
    pub(crate) fn leaked_in<'i>(&'i self, text: &str) -> Option<&'i str> {
        let long = self.parts.iter().filter(|part| part.len() >= 8);
        // Of a long one both ends, which a cut would leave, and some of the rest.
        let mut pieces = long.flat_map(|part| {
            let is_end = |end: usize| end < 140 || end + 40 > part.len();
            let ends = (PIECE..=part.len()).filter(move |end| is_end(*end) || end % 16 == 0);
            ends.filter_map(|end| part.get(end - PIECE..end))
        });
        pieces.find(|piece| text.contains(piece))
    }
}

/// This many consecutive characters do not occur by chance.
const PIECE: usize = 6;

/// A generator with a fixed seed.
#[derive(Debug)]
pub(crate) struct Chance(pub(crate) u64);

impl Chance {
    pub(crate) fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        usize::try_from(self.0 >> 33).unwrap() % end
    }

    pub(crate) fn text(&mut self, alphabet: &str, length: usize) -> String {
        let alphabet = alphabet.as_bytes();
        (0..length).map(|_| char::from(alphabet[self.below(alphabet.len())])).collect()
    }
}

impl Kind {
    pub(crate) fn make(&self, chance: &mut Chance) -> Instance {
        let mut instance = Instance { text: String::new(), parts: Vec::new() };
        let mut rest = self.form;
        while let Some((before, after)) = rest.split_once('{') {
            instance.text.push_str(before);
            // Other braces are literal.
            let Some((set, least, most, behind)) = hole(after) else {
                instance.text.push('{');
                rest = after;
                continue;
            };
            let length = least + chance.below(most - least + 1);
            let part = match set.trim_start_matches('~') {
                "uuid" => [8, 4, 4, 4, 12].map(|len| chance.text(HEX, len)).join("-"),
                "basic" => base64(&format!("deploy:{}", chance.text(ALNUM, length))),
                // What people choose if a digit and a special character are required.
                "human" => {
                    let words = ["Summer", "Winter", "Dragon", "Monkey", "Tiger"];
                    let (word, sign) = (words[chance.below(5)], ["!", "@", "#"][chance.below(3)]);
                    let (number, more) = (chance.text("0123456789", 4), chance.text(ALNUM, 4));
                    format!("{word}{sign}{number}{more}")
                }
                "lines" => {
                    let lines = (0..length).map(|_| chance.text(BASE64, 64));
                    lines.collect::<Vec<_>>().join("\n")
                }
                set => chance.text(alphabet(set), length),
            };
            instance.text.push_str(&part);
            if !set.starts_with('~') {
                instance.parts.push(part);
            }
            rest = behind;
        }
        instance.text.push_str(rest);
        instance
    }
}

/// The alphabet and the lengths of a hole, and what follows it.
fn hole(text: &str) -> Option<(&str, usize, usize, &str)> {
    let (hole, behind) = text.split_once('}')?;
    let (set, length) = hole.split_once(':')?;
    let (least, most) = length.split_once('-').unwrap_or((length, length));
    Some((set, least.parse().ok()?, most.parse().ok()?, behind))
}

const HEX: &str = "0123456789abcdef";
const ALNUM: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
const BASE64: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// Base64 without padding.
fn base64(text: &str) -> String {
    let bits: String = text.bytes().map(|byte| format!("{byte:08b}")).collect();
    let six = |bits: &[u8]| {
        let value = bits.iter().fold(0, |value, bit| value << 1 | usize::from(bit - b'0'));
        char::from(BASE64.as_bytes()[value << (6 - bits.len())])
    };
    bits.as_bytes().chunks(6).map(six).collect()
}

fn alphabet(set: &str) -> &'static str {
    match set {
        "hex" => HEX,
        "HEX" => "0123456789ABCDEF",
        "dig" => "0123456789",
        "lo" => "abcdefghijklmnopqrstuvwxyz",
        "lod" => "abcdefghijklmnopqrstuvwxyz0123456789",
        "lo32" => "abcdefghijklmnopqrstuvwxyz234567",
        "up32" => "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567",
        "upd" => "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789",
        "an" => ALNUM,
        "url" => "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_",
        "b64" => BASE64,
        // What password managers add to letters and digits.
        "sym" => "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789!@%^*-_=+?",
        // The characters of a value without quotes in a settings file.
        "env" => {
            "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789!@#%^*()-_=+[]{},.?/~"
        }
        "pct" => "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789%",
        "AN" => "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz",
        "django" => "abcdefghijklmnopqrstuvwxyz0123456789!@#$%^&*(-_=+)",
        other => unreachable!("no alphabet {other}"),
    }
}

const fn token(name: &'static str, form: &'static str) -> Kind {
    Kind { name, form, is_token: true }
}

const fn context(name: &'static str, form: &'static str) -> Kind {
    Kind { name, form, is_token: false }
}

/// Secrets that are recognised by their own form.
pub(crate) const TOKENS: &[Kind] = &[
    token("adafruit", "aio_{an:28}"),
    token("age", "AGE-SECRET-KEY-1{up32:58}"),
    token("alibaba id", "LTAI5t{an:18}"),
    token("anthropic admin key", "sk-ant-admin01-{url:80}"),
    token("anthropic key", "sk-ant-api03-{url:93}AA"),
    token("anthropic oauth", "sk-ant-oat01-{url:86}AA"),
    token("atlassian", "ATATT3xFfGF0{url:170}={HEX:8}"),
    token("aws access key id", "AKIA{up32:16}"),
    token("aws temporary id", "ASIA{up32:16}"),
    token("azure client secret", "{an:3}8Q~{url:34}"),
    token("azure ai key", "{an:52}JQQJ99B{an:5}AC{an:18}"),
    token("azure devops token", "{an:76}AZDO{an:4}"),
    token(
        "azure sas",
        "https://x.blob.core.windows.net/c?sv=2022-11-02&sp=rl&sig={an:40}%2B{an:2}%3D",
    ),
    token("bitbucket app password", "ATBB{an:32}"),
    token("browserbase", "bb_live_{an:27}"),
    token("buildkite", "bkua_{hex:40}"),
    token("cerebras", "csk-{lod:48}"),
    token("circleci", "CCIPAT_{an:22}_{hex:40}"),
    token("clojars", "CLOJARS_{lod:60}"),
    token("cloudflare origin", "v1.0-{hex:24}-{hex:146}"),
    token("contentful", "CFPAT-{url:43}"),
    token("crates.io", "cio{an:32}"),
    token("databricks", "dapi{hex:32}"),
    token("digitalocean", "dop_v1_{hex:64}"),
    token("discord bot", "MTE{lod:21}.{an:6}.{url:38}"),
    token("discord webhook", "https://discord.com/api/webhooks/{~dig:18}/{url:68}"),
    token("docker hub", "dckr_pat_{url:27}"),
    token("doppler", "dp.pt.{an:43}"),
    token("dropbox", "sl.u.{url:130}"),
    token("duffel", "duffel_live_{url:43}"),
    token("dynatrace", "dt0c01.{upd:24}.{upd:64}"),
    token("e2b", "e2b_{hex:40}"),
    token("facebook", "EAAG{an:160}"),
    token("figma", "figd_{url:40}"),
    token("firebase cloud messaging", "AAAA{url:7}:APA91b{url:134}"),
    token("firecrawl", "fc-{hex:32}"),
    token("fireworks", "fw_{an:24}"),
    token("fly.io", "fm2_{b64:200}"),
    token("frame.io", "fio-u-{url:64}"),
    token("github fine grained", "github_pat_{an:22}_{an:59}"),
    token("github oauth", "gho_{an:36}"),
    token("github personal", "ghp_{an:36}"),
    token("github server", "ghs_{an:36}"),
    token("gitlab personal", "glpat-{url:20}"),
    token("gitlab runner", "glrt-{url:20}"),
    token("google api key", "AIza{url:35}"),
    token("google oauth secret", "GOCSPX-{url:28}"),
    token("google oauth token", "ya29.{url:120}"),
    token("google refresh token", "1//0{an:1}{url:60}"),
    token("grafana", "glsa_{an:32}_{hex:8}"),
    token("groq", "gsk_{an:52}"),
    token("heroku", "HRKU-{url:60}"),
    token("hubspot", "pat-na1-{uuid:1}"),
    token("huggingface", "hf_{an:34}"),
    token("infracost", "ico-{an:32}"),
    token("jwt", "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiIx{an:40}.{url:43}"),
    token("langfuse", "sk-lf-{uuid:1}"),
    token("langsmith", "lsv2_pt_{hex:32}_{hex:10}"),
    token("launchdarkly", "sdk-{uuid:1}"),
    token("linear", "lin_api_{an:40}"),
    token("logfire", "pylf_v1_us_{an:43}"),
    token("mailchimp", "{hex:32}-us1{~dig:1}"),
    token("mailgun", "key-{hex:32}"),
    token("mapbox", "sk.eyJ1{an:60}.{url:22}"),
    token("neon", "napi_{lod:64}"),
    token("netlify", "nfp_{an:40}"),
    token("new relic", "NRAK-{upd:27}"),
    token("notion", "ntn_{an:46}"),
    token("notion, older", "secret_{an:43}"),
    token("npm", "npm_{an:36}"),
    token("nuget", "oy2{lod:43}"),
    token("onepassword", "ops_eyJ{an:300}"),
    token("openai project key", "sk-proj-{url:74}T3BlbkFJ{url:74}"),
    token("openai key", "sk-{an:20}T3BlbkFJ{an:20}"),
    token("openai service account", "sk-svcacct-{url:74}T3BlbkFJ{url:74}"),
    token("deepseek key", "sk-{hex:32}"),
    token("openrouter", "sk-or-v1-{hex:64}"),
    token("openshift", "sha256~{url:43}"),
    token("perplexity", "pplx-{an:48}"),
    token("pinecone", "pcsk_{an:6}_{an:63}"),
    token("planetscale", "pscale_tkn_{url:43}"),
    token("postman", "PMAK-{hex:24}-{hex:34}"),
    token("prefect", "pnu_{an:36}"),
    token(
        "private key, ec",
        "-----BEGIN EC PRIVATE KEY-----\n{lines:3}\n-----END EC PRIVATE KEY-----",
    ),
    token(
        "private key, openssh",
        "-----BEGIN OPENSSH PRIVATE KEY-----\n{lines:6}\n-----END OPENSSH PRIVATE KEY-----",
    ),
    token(
        "private key, rsa",
        "-----BEGIN RSA PRIVATE KEY-----\n{lines:25}\n-----END RSA PRIVATE KEY-----",
    ),
    token("pulumi", "pul-{hex:40}"),
    token("pypi", "pypi-AgEIcHlwaS5vcmc{url:150}"),
    token("readme", "rdme_{lod:70}"),
    token("replicate", "r8_{an:37}"),
    token("rubygems", "rubygems_{hex:48}"),
    token("sendgrid", "SG.{url:22}.{url:43}"),
    token("sendinblue", "xkeysib-{hex:64}-{an:16}"),
    token("sentry", "sntryu_{hex:64}"),
    token("shippo", "shippo_live_{hex:40}"),
    token("shopify", "shpat_{hex:32}"),
    token("slack app", "xapp-1-A{upd:10}-{dig:13}-{hex:64}"),
    token("slack bot", "xoxb-{dig:12}-{dig:13}-{an:24}"),
    token("slack user", "xoxp-{dig:12}-{dig:12}-{dig:12}-{hex:32}"),
    token("slack webhook", "https://hooks.slack.com/services/T{~upd:10}/B{~upd:10}/{an:24}"),
    token("sonar", "squ_{hex:40}"),
    token("sourcegraph", "sgp_{hex:40}"),
    token("square", "sq0csp-{url:43}"),
    token("stripe live", "sk_live_{an:24}"),
    token("stripe restricted", "rk_live_{an:99}"),
    token("stripe webhook", "whsec_{an:32}"),
    token("supabase", "sbp_{hex:40}"),
    token("tailscale", "tskey-auth-{an:12}CNTRL-{an:32}"),
    token("tavily", "tvly-dev-{an:32}"),
    token("telegram bot", "{~dig:10}:AA{url:33}"),
    token("terraform", "{an:14}.atlasv1.{url:67}"),
    token("twilio key", "SK{hex:32}"),
    token("typeform", "tfp_{url:59}"),
    token("url, amqp", "amqps://app:{an:16-32}@mq.internal:5671/vhost"),
    token("url, mongodb", "mongodb+srv://app:{an:16-32}@cluster0.abcde.mongodb.net/app"),
    token("url, mysql", "mysql://root:{an:16-32}@10.0.0.5:3306/app"),
    token("url, postgres", "postgres://app:{an:16-32}@db.internal:5432/app"),
    token("url, redis", "redis://:{an:20-40}@cache.internal:6379/0"),
    token("vault", "hvs.{url:90}"),
    token("xai", "xai-{an:80}"),
    token("yandex", "AQVN{url:35}"),
    token("1password secret key", "A3-{upd:6}-{upd:6}-{upd:5}-{upd:5}-{upd:5}"),
    token("airtable token", "pat{an:14}.{hex:64}"),
    token("amazon mws", "amzn.mws.{uuid:1}"),
    token("aws bedrock", "ABSKQmVkcm9ja0FQSUtleS{b64:110}"),
    token("defined networking", "dnkey-{lod:26}-{lod:52}"),
    token("easypost", "EZAK{an:54}"),
    token("easypost test", "EZTK{an:54}"),
    token("elevenlabs key", "sk_{hex:48}"),
    token("figma oauth", "figo_{url:40}"),
    token("flutterwave", "FLWSECK_TEST-{hex:32}-X"),
    token("fly.io organisation", "fo1_{url:43}"),
    token("gemini key", "AQ.Ab8{url:47}"),
    token("gitlab agent", "glagent-{url:50}"),
    token("gitlab feature flags", "glffct-{url:20}"),
    token("gitlab pipeline trigger", "glptt-{hex:40}"),
    token("gitlab routable", "glpat-{url:27}.01.{lod:9}"),
    token("grafana cloud", "glc_eyJ{b64:80}"),
    token("grafana, older", "eyJrIjoi{an:90}=="),
    token("harness", "pat.{an:22}.{hex:24}.{an:20}"),
    token("inngest", "signkey-prod-{hex:64}"),
    token("intra 42", "s-s4t2ud-{hex:64}"),
    token("jfrog key", "AKCp{an:69}"),
    token("jfrog reference", "cmVmd{an:59}"),
    token("jina", "jina_{url:60}"),
    token("launchdarkly api", "api-{uuid:1}"),
    token("lob", "live_{hex:35}"),
    token("maxmind", "{an:6}_{an:29}_mmk"),
    token("nvidia", "nvapi-{url:64}"),
    token("octopus", "API-{upd:26}"),
    token("openai key without digits", "sk-{AN:48}"),
    token("openai project key, short", "sk-proj-{AN:40}"),
    token("plaid access", "access-production-{uuid:1}"),
    token("posthog", "phx_{an:47}"),
    token("render", "rnd_{an:28}"),
    token("resend", "re_{an:8}_{an:24}"),
    token("scalingo", "tk-us-{url:48}"),
    token("sentry organisation", "sntrys_eyJpYXQiO{an:100}=_{b64:43}"),
    token("settlemint", "sm_pat_{an:16}"),
    token("slack configuration", "xoxe.xoxp-1-{an:166}"),
    token("slack cookie", "xoxd-{an:60}%2B{an:30}%2F{an:20}"),
    token("square access", "EAAA{url:60}"),
    token("supabase secret", "sb_secret_{url:22}_{url:8}"),
    token(
        "teams webhook",
        "https://x.webhook.office.com/webhookb2/{uuid:1}@{uuid:1}/IncomingWebhook/{hex:32}/{uuid:1}",
    ),
    token("trigger.dev", "tr_prod_{an:24}"),
    token("vercel blob", "vercel_blob_rw_{an:16}_{an:30}"),
    token("voyage", "pa-{url:43}"),
    token("wandb v1", "wandb_v1_{url:60}"),
    token("zapier webhook", "https://hooks.zapier.com/hooks/catch/{dig:8}/{lod:7}/"),
];

/// Secrets that are recognised only by the text around them.
pub(crate) const CONTEXTS: &[Kind] = &[
    context("ADMIN_API_KEY", "ADMIN_API_KEY={an:32}"),
    context("ADMIN_PASSWORD", "export APP_ADMIN_PASSWORD={an:16}"),
    context("airtable", "AIRTABLE_PAT=pat{an:14}.{hex:64}"),
    context(
        "airtable call",
        "curl https://api.airtable.com/v0/app -H 'Authorization: Bearer pat{an:14}.{hex:64}'",
    ),
    context("algolia", "ALGOLIA_ADMIN_API_KEY={hex:32}"),
    context("ansible", "ansible_become_pass: {an:14}"),
    context("asana", "ASANA_TOKEN=1/{~dig:16}:{hex:32}"),
    context("asana config", "asana_personal: 2/{~dig:16}/{~dig:16}:{hex:32}"),
    context("assigned, 10 characters", "password: {an:10}"),
    context("assigned, 12 characters", "DB_PASSWORD={an:12}"),
    context("assigned, 16 characters", "DB_PASSWORD={an:16}"),
    context("assigned, 24 characters", "SERVICE_TOKEN={an:24}"),
    context("assigned, 12 in quotes", "password = \"{an:12}\""),
    context("assigned, 20 in quotes", "const apiKey = '{an:20}';"),
    context("assigned, 40 in quotes", "secret: `{url:40}`,"),
    context("assigned, capitals", "LICENSE_SECRET={upd:20}"),
    context("assigned, digits and small letters", "api_token={lod:20}"),
    context("assigned, hex", "client_secret={hex:32}"),
    context("assigned, small letters", "MAIL_PASSWORD={lo:20}"),
    context("assigned, small letters in quotes", "\"password\": \"{lo:16}\""),
    context("assigned, with symbols", "password: {sym:16}"),
    context("assigned, with symbols in quotes", "DB_PASS=\"{sym:14}\""),
    context("aws configure", "aws configure set aws_secret_access_key {b64:40}"),
    context("aws json", "\"SecretAccessKey\": \"{b64:40}\","),
    context("aws secret", "AWS_SECRET_ACCESS_KEY={b64:40}"),
    context("aws session token", "aws_session_token = IQoJb3JpZ2luX2Vj{b64:300}=="),
    context("azure function key", "https://x.azurewebsites.net/api/f?code={an:52}=="),
    context("azure openai", "AZURE_OPENAI_API_KEY={hex:32}"),
    context(
        "azure service bus",
        "Endpoint=sb://x.servicebus.windows.net/;SharedAccessKeyName=Root;SharedAccessKey={b64:43}=",
    ),
    context(
        "azure sql",
        "Server=tcp:x.database.windows.net,1433;Database=app;User ID=app;Password={sym:16};Encrypt=True",
    ),
    context(
        "azure storage",
        "DefaultEndpointsProtocol=https;AccountName=x;AccountKey={b64:86}==;EndpointSuffix=core.windows.net",
    ),
    context("azure subscription key", "Ocp-Apim-Subscription-Key: {hex:32}"),
    context("basic", "Authorization: Basic {basic:16}"),
    context("bearer", "Authorization: Bearer {an:40}"),
    context("bearer, in code", "headers={\"Authorization\": \"Bearer {url:32}\"}"),
    context("cloudflare global key", "X-Auth-Key: {hex:37}"),
    context("cloudflare token", "CLOUDFLARE_API_TOKEN={url:40}"),
    context("cohere", "CO_API_KEY={an:40}"),
    context("cookie", "Cookie: sessionid={lod:32}; theme=dark"),
    context("cookie in curl", "curl -b 'session={an:40}' https://app.internal/"),
    context("cookie that is set", "Set-Cookie: JSESSIONID={HEX:32}; Path=/; HttpOnly"),
    context("curl user", "curl -sS -u admin:{an:16} https://ci.internal/job"),
    context("datadog application key", "DD_APPLICATION_KEY={hex:40}"),
    context("datadog key", "DD_API_KEY={hex:32}"),
    context("django", "SECRET_KEY = 'django-insecure-{django:50}'"),
    context("django, plain", "SECRET_KEY = '{django:50}'"),
    context("docker auth", "\"auth\": \"{basic:16}\""),
    context("docker login", "docker login -u ci -p {an:20} registry.internal"),
    context("dotnet", "\"ConnectionString\": \"Server=db;User Id=sa;Pwd={an:16};\""),
    context("elevenlabs", "ELEVENLABS_API_KEY=sk_{hex:48}"),
    context("ENUM_TOKEN", "ENUM_TOKEN={an:24}"),
    context("environment of a container", "docker run -e POSTGRES_PASSWORD={an:16} postgres:16"),
    context(
        "gitlab header",
        "curl --header \"PRIVATE-TOKEN: {url:20}\" https://gitlab.internal/api/v4",
    ),
    context("gpg passphrase", "gpg --batch --passphrase {an:18} -d x.gpg"),
    context("heroku", "HEROKU_API_KEY={uuid:1}"),
    context("jdbc", "jdbc:postgresql://db:5432/app?user=app&password={an:16}&ssl=true"),
    context("json api key", "\"api_key\": \"{an:32}\","),
    context("jwt secret", "JWT_SECRET={b64:43}="),
    context("kubernetes", "  password: {b64:22}=="),
    context("laravel", "APP_KEY=base64:{b64:43}="),
    context("maven", "<password>{an:16}</password>"),
    context("MINIMAX_API_KEY", "MINIMAX_API_KEY={an:48}"),
    context("mistral", "MISTRAL_API_KEY={an:32}"),
    context("mysql -p", "mysql -h db -u root -p{an:16} app < dump.sql"),
    context("mysqldump -p", "mysqldump -uroot -p'{sym:14}' app"),
    context("netrc", "machine api.internal login deploy password {an:16}"),
    context("next auth", "NEXTAUTH_SECRET=\"{b64:43}=\""),
    context("npmrc", "//registry.npmjs.org/:_authToken={uuid:1}"),
    context("odbc", "Driver=x;Server=db;UID=app;PWD={an:14};"),
    context("okta", "OKTA_API_TOKEN=00{url:40}"),
    context("option --password", "createuser --password {an:14} --name joe"),
    context("option --token=", "vercel deploy --token={an:24}"),
    context("pgpass", "db.internal:5432:app:deploy:{an:16}"),
    context("pgpass, any", "*:*:*:postgres:{an:20}"),
    context("PGPASSWORD", "PGPASSWORD={an:14} psql -h db -U app"),
    context("php", "define('DB_PASSWORD', '{an:18}');"),
    context("proxy authorization", "Proxy-Authorization: Basic {basic:16}"),
    context("psql conninfo", "psql \"host=db user=app password={an:14} dbname=x\""),
    context("rails", "secret_key_base: {hex:128}"),
    context("redis-cli", "redis-cli -h cache -a {an:24} ping"),
    context("requirepass", "requirepass {an:24}"),
    context("resend", "RESEND_API_KEY=re_{an:8}_{an:24}"),
    context("ruby", "password: \"{an:14}\","),
    context(
        "service account",
        "\"private_key\": \"-----BEGIN PRIVATE KEY-----\\nMIIEvQIBADANBgkqhkiG9w0B{b64:40}\\n{b64:64}\\n-----END PRIVATE KEY-----\\n\",",
    ),
    context("smtp", "smtp.login(\"ci@app.internal\", \"{an:16}\")"),
    context("snyk", "SNYK_TOKEN={uuid:1}"),
    context("sshpass", "sshpass -p {an:14} ssh root@10.0.0.2"),
    context("sshpass in quotes", "sshpass -p '{sym:14}' scp x y"),
    context("terraform variables", "db_password = \"{an:20}\""),
    context("twilio auth token", "TWILIO_AUTH_TOKEN={hex:32}"),
    context("url parameter", "https://api.app.internal/v1/x?api_key={an:32}&page=2"),
    context("url parameter, token", "wss://gateway.app.internal/?access_token={url:40}"),
    context("vault, older", "VAULT_TOKEN=s.{an:24}"),
    context("wandb", "WANDB_API_KEY={hex:40}"),
    context("x-api-key", "X-Api-Key: {an:40}"),
    context("xml attribute", "<add key=\"x\" password=\"{an:16}\" />"),
    context("yaml token", "  access_token: {url:40}"),
    context("zsh", "export OPENWEATHER_API_KEY='{hex:32}'"),
    context("admin key", "ALGOLIA_ADMIN_KEY={hex:32}"),
    context("auth variable", "REGISTRY_AUTH={an:32}"),
    context("az login", "az login --service-principal -u app -p {an:24} --tenant t"),
    context("basic auth in code", "requests.get(url, auth=('ci', '{an:20}'))"),
    context("bindpw", "bindpw {an:16}"),
    context("configuration in xml", "<add key=\"ApiKey\" value=\"{an:32}\"/>"),
    context("django in .env", "SECRET_KEY={django:50}"),
    context("django in a dockerfile", "ENV SECRET_KEY {django:50}"),
    context("django in yaml", "SECRET_KEY: {django:50}"),
    context("dockerfile", "ENV API_KEY {an:32}"),
    context("gh secret set", "gh secret set API_KEY --body \"{an:32}\""),
    context("gh secret set -b", "gh secret set API_KEY -b{an:32}"),
    context("git config", "git config --global gitlab.token {an:24}"),
    context("header API-Key", "API-Key: {an:32}"),
    context("header Access-Key", "Access-Key: {an:32}"),
    context("header apikey", "curl -H 'APIKey: {an:32}' https://api.internal/"),
    context("header X-API-Key", "curl -H 'X-API-Key: {an:32}' https://api.internal/"),
    context("header X-API-Key in code", "headers={'X-API-Key': '{an:32}'}"),
    context("header X-RapidAPI-Key", "X-RapidAPI-Key: {hex:10}msh{hex:15}p1{hex:6}jsn{hex:12}"),
    context("kubernetes env", "        - name: DB_PASSWORD\n          value: {an:16}"),
    context("kubernetes env in quotes", "- name: DB_PASSWORD\n  value: \"{sym:16}\""),
    context("npm config set", "npm config set //registry.npmjs.org/:_authToken {an:36}"),
    context("pair in json", "{\"name\":\"DB_PASSWORD\",\"value\":\"{an:16}\"}"),
    context(
        "pair in json, in lines",
        "{\n  \"name\": \"DB_PASSWORD\",\n  \"value\": \"{an:16}\"\n}",
    ),
    context("password chosen by a person", "DB_PASSWORD={human:1}"),
    context("password chosen by a person, json", "\"password\": \"{human:1}\""),
    context("password in .env", "DB_PASSWORD={env:16}"),
    context("password in quotes", "DB_PASSWORD=\"{env:16}\""),
    context("password in yaml", "  password: {env:20}"),
    context("setx", "setx API_KEY {an:32}"),
    context("sql identified by", "CREATE USER app@'%' IDENTIFIED BY '{an:16}';"),
    context("sql password", "ALTER USER app WITH PASSWORD '{sym:16}';"),
];

pub(crate) fn all() -> impl Iterator<Item = &'static Kind> {
    TOKENS.iter().chain(CONTEXTS)
}
