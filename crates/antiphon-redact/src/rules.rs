//! All rules. Of two with the same beginning, the one with the longer keyword is applied first, and
//! a token before a context.
//!
//! Each has examples in `rules/examples.rs`, and a row in `docs/redaction.md`; tests keep the three
//! consistent.

use crate::bytes::Set::{Alnum, Any64, Base64, Dashed, Dotted, Escaped, Hex, Upper, Url64, Word};
use crate::command::command_password;
use crate::context::{
    airtable, asana, assigned, authorization, aws_secret, azure_function, azure_key,
    azure_signature, cloudflare, curl_user, docker_auth, heroku, login_call, netrc, pgpass,
    teams_webhook, url_password, webhook, zapier_webhook,
};
use crate::cookie::{cookie, curl_cookie};
use crate::part::{
    airtable_token, harness, maxmind, octopus, onepassword, resend, square, underscored_key, voyage,
};
use crate::rule::Rule;
use crate::token::{
    azure_client_secret, azure_signed, discord_bot, facebook, firebase, jwt, mailchimp, mailgun,
    openai, sendgrid, telegram_bot, terraform, with_uuid,
};
use crate::{key, name, pair, sql};

/// The rule for private keys, the only secrets with several lines.
pub(crate) const PRIVATE_KEY: &str = "private-key";

const TOKENS: &[Rule] = &[
    Rule::token("adafruit-key", &["aio_"], Alnum, 28),
    Rule::token("age-secret-key", &["AGE-SECRET-KEY-1"], Upper, 50),
    Rule::shape("airtable-token", &["pat"], airtable_token),
    Rule::fixed("alibaba-access-key-id", &["LTAI"], Alnum, (16, 24)),
    Rule::shape("amazon-mws-token", &["amzn.mws."], with_uuid),
    Rule::token("anthropic-key", &["sk-ant-"], Dashed, 20),
    Rule::token("atlassian-token", &["ATATT3", "ATBB", "ATCTT3"], Url64, 28),
    Rule::fixed("aws-access-key-id", &["AKIA", "ASIA", "ABIA", "ACCA"], Upper, (16, 16)),
    Rule::token("aws-bedrock-key", &["ABSKQmVkcm9ja0FQSUtleS"], Base64, 60),
    Rule::shape("azure-client-secret", &["Q~"], azure_client_secret),
    Rule::shape("azure-signed-key", &["AZDO", "JQQJ99"], azure_signed),
    Rule::token("browserbase-key", &["bb_live_"], Word, 24),
    Rule::token("buildkite-token", &["bkua_"], Alnum, 32),
    Rule::token("cerebras-key", &["csk-"], Alnum, 40),
    Rule::token("circleci-token", &["CCIPAT_", "CCIPRJ_"], Word, 32),
    Rule::token("clojars-token", &["CLOJARS_"], Alnum, 50),
    Rule::token("cloudflare-origin-key", &["v1.0-"], Dashed, 100),
    Rule::token("contentful-token", &["CFPAT-"], Dashed, 40),
    Rule::fixed("crates-io-token", &["cio"], Alnum, (32, 32)),
    Rule::fixed("databricks-token", &["dapi"], Hex, (32, 32)),
    Rule::token("defined-networking-key", &["dnkey-"], Url64, 60),
    Rule::token("digitalocean-token", &["dop_v1_", "doo_v1_", "dor_v1_"], Hex, 48),
    Rule::shape(
        "discord-bot-token",
        &["MT", "Mj", "Mz", "ND", "NT", "Nj", "Nz", "OD", "OT"],
        discord_bot,
    ),
    Rule::token("docker-hub-token", &["dckr_pat_", "dckr_oat_"], Dashed, 20),
    Rule::token("doppler-token", &["dp.pt.", "dp.st.", "dp.ct.", "dp.sa."], Dotted, 36),
    Rule::token("dropbox-token", &["sl.u.", "sl.A", "sl.B"], Dashed, 100),
    Rule::token("duffel-token", &["duffel_live_", "duffel_test_"], Dashed, 40),
    Rule::token("dynatrace-token", &["dt0c01.", "dt0s01."], Dotted, 60),
    Rule::token("e2b-key", &["e2b_"], Hex, 40),
    Rule::fixed("easypost-key", &["EZAK", "EZTK"], Alnum, (54, 54)),
    Rule::shape("elevenlabs-key", &["sk_"], underscored_key),
    Rule::shape("facebook-token", &["EAA"], facebook),
    Rule::token("figma-token", &["figd_", "figo_", "figu_"], Dashed, 36),
    Rule::shape("firebase-server-key", &[":APA91b"], firebase),
    Rule::fixed("firecrawl-key", &["fc-"], Hex, (32, 32)),
    Rule::fixed("fireworks-key", &["fw_"], Alnum, (22, 26)),
    Rule::token("flutterwave-key", &["FLWSECK_TEST-", "FLWSECK-"], Dashed, 32),
    Rule::token("flyio-token", &["fo1_", "fm1_", "fm1r_", "fm2_"], Any64, 40),
    Rule::token("frameio-token", &["fio-u-"], Dashed, 60),
    Rule::token("github-fine-grained-token", &["github_pat_"], Word, 36),
    Rule::token("github-token", &["ghp_", "gho_", "ghu_", "ghs_", "ghr_"], Alnum, 30),
    Rule::token(
        "gitlab-token",
        &[
            "glpat-", "gldt-", "glrt-", "glptt-", "glcbt-", "glsoat-", "glft-", "glimt-", "gloas-",
            "glagent-", "glffct-",
        ],
        Dotted,
        20,
    ),
    Rule::token("google-api-key", &["AIza", "AQ.Ab8"], Dashed, 32),
    Rule::token("google-oauth-secret", &["GOCSPX-"], Dashed, 24),
    Rule::token("google-oauth-token", &["ya29."], Dashed, 24),
    Rule::token("google-refresh-token", &["1//0"], Dashed, 40),
    Rule::token("grafana-token", &["glsa_", "glc_", "eyJrIjoi"], Any64, 36),
    Rule::token("groq-key", &["gsk_"], Alnum, 40),
    Rule::shape("harness-token", &["pat."], harness),
    Rule::token("heroku-key", &["HRKU-"], Dashed, 36),
    Rule::token("hubspot-token", &["pat-na1-", "pat-na2-", "pat-eu1-"], Dashed, 36),
    Rule::token("huggingface-token", &["hf_", "api_org_"], Alnum, 30),
    Rule::fixed("infracost-key", &["ico-"], Alnum, (32, 32)),
    Rule::token("inngest-key", &["signkey-prod-", "signkey-test-"], Hex, 32),
    Rule::token("intra-secret", &["s-s4t2ud-", "u-s4t2ud-"], Hex, 64),
    Rule::fixed("jfrog-key", &["AKCp"], Alnum, (60, 80)),
    Rule::fixed("jfrog-reference-token", &["cmVmd"], Alnum, (59, 59)),
    Rule::token("jina-key", &["jina_"], Dashed, 40),
    Rule::shape("jwt", &["eyJ"], jwt),
    Rule::token("langfuse-key", &["sk-lf-"], Dashed, 36),
    Rule::token("langsmith-key", &["lsv2_pt_", "lsv2_sk_"], Word, 36),
    Rule::shape("launchdarkly-key", &["sdk-", "api-"], with_uuid),
    Rule::token("linear-key", &["lin_api_", "lin_oauth_"], Alnum, 32),
    Rule::fixed("lob-key", &["live_"], Hex, (35, 35)),
    Rule::token("logfire-token", &["pylf_v1_"], Word, 40),
    Rule::shape(
        "mailchimp-key",
        &["-us1", "-us2", "-us3", "-us4", "-us5", "-us6", "-us7", "-us8", "-us9"],
        mailchimp,
    ),
    Rule::shape("mailgun-key", &["key-"], mailgun),
    Rule::token("mapbox-token", &["sk.eyJ"], Dotted, 60),
    Rule::shape("maxmind-key", &["_mmk"], maxmind),
    Rule::token("neon-key", &["napi_"], Alnum, 40),
    Rule::token("netlify-token", &["nfp_", "nfc_", "nfo_"], Alnum, 32),
    Rule::token("new-relic-key", &["NRAK-", "NRJS-", "NRII-"], Dashed, 19),
    Rule::token("notion-token", &["ntn_", "secret_"], Alnum, 40),
    Rule::token("npm-token", &["npm_"], Alnum, 36),
    Rule::fixed("nuget-key", &["oy2"], Alnum, (43, 43)),
    Rule::token("nvidia-key", &["nvapi-"], Dashed, 40),
    Rule::shape("octopus-key", &["API-"], octopus),
    Rule::shape("onepassword-secret-key", &["A3-"], onepassword),
    Rule::token("onepassword-token", &["ops_eyJ"], Base64, 60),
    Rule::shape("openai-key", &["sk-"], openai),
    Rule::token("openrouter-key", &["sk-or-v1-"], Hex, 48),
    Rule::token("openshift-token", &["sha256~"], Dashed, 40),
    Rule::token("perplexity-key", &["pplx-"], Alnum, 40),
    Rule::token("pinecone-key", &["pcsk_"], Word, 50),
    Rule::shape(
        "plaid-token",
        &["access-production-", "access-development-", "access-sandbox-"],
        with_uuid,
    ),
    Rule::token("planetscale-token", &["pscale_tkn_", "pscale_pw_", "pscale_oauth_"], Dotted, 32),
    Rule::token("posthog-key", &["phx_"], Alnum, 40),
    Rule::token("postman-key", &["PMAK-"], Dashed, 50),
    Rule::token("prefect-key", &["pnu_", "pnb_"], Alnum, 36),
    Rule::shape(PRIVATE_KEY, key::KEYWORDS, key::private_key),
    Rule::fixed("pulumi-token", &["pul-"], Hex, (40, 40)),
    Rule::token("pypi-token", &["pypi-AgE"], Dashed, 50),
    Rule::token("readme-key", &["rdme_"], Alnum, 60),
    Rule::fixed("render-key", &["rnd_"], Alnum, (28, 32)),
    Rule::token("replicate-token", &["r8_"], Alnum, 36),
    Rule::shape("resend-key", &["re_"], resend),
    Rule::token("rubygems-key", &["rubygems_"], Hex, 40),
    Rule::token("scalingo-token", &["tk-us-"], Dashed, 48),
    Rule::shape("sendgrid-key", &["SG."], sendgrid),
    Rule::token("sendinblue-key", &["xkeysib-", "xsmtpsib-"], Dashed, 70),
    Rule::token("sentry-token", &["sntrys_", "sntryu_"], Any64, 40),
    Rule::fixed("settlemint-token", &["sm_pat_", "sm_aat_", "sm_sat_"], Alnum, (16, 16)),
    Rule::token("shippo-token", &["shippo_live_", "shippo_test_"], Hex, 40),
    Rule::token("shopify-token", &["shpat_", "shpss_", "shppa_", "shpca_"], Hex, 32),
    Rule::token(
        "slack-token",
        &["xoxa-", "xoxb-", "xoxp-", "xoxr-", "xoxs-", "xoxe-", "xoxc-", "xoxd-", "xoxe.", "xapp-"],
        Escaped,
        20,
    ),
    Rule::token("sonar-token", &["squ_", "sqp_", "sqa_"], Hex, 40),
    Rule::token("sourcegraph-token", &["sgp_"], Word, 40),
    Rule::shape("square-access-token", &["EAAA"], square),
    Rule::token("square-token", &["sq0atp-", "sq0csp-", "sq0idp-"], Dashed, 22),
    Rule::token(
        "stripe-key",
        &["sk_live_", "rk_live_", "sk_test_", "rk_test_", "whsec_"],
        Alnum,
        16,
    ),
    Rule::token("supabase-key", &["sbp_", "sb_secret_"], Dashed, 30),
    Rule::token("tailscale-key", &["tskey-"], Dashed, 24),
    Rule::token("tavily-key", &["tvly-"], Dashed, 24),
    Rule::shape("telegram-bot-token", &[":AA"], telegram_bot),
    Rule::shape("terraform-token", &[".atlasv1."], terraform),
    Rule::fixed("trigger-key", &["tr_prod_", "tr_dev_", "tr_stg_"], Alnum, (20, 24)),
    Rule::fixed("twilio-key", &["SK"], Hex, (32, 32)),
    Rule::token("typeform-token", &["tfp_"], Dashed, 40),
    Rule::token("vault-token", &["hvs.", "hvb.", "hvr."], Dashed, 24),
    Rule::token("vercel-blob-token", &["vercel_blob_rw_"], Word, 40),
    Rule::shape("voyage-key", &["pa-"], voyage),
    Rule::token("wandb-key", &["wandb_v1_"], Dashed, 40),
    Rule::token("xai-key", &["xai-"], Alnum, 60),
    Rule::token("yandex-key", &["AQVN"], Dashed, 32),
];

const CONTEXTS: &[Rule] = &[
    Rule::context("airtable-key", &["airtable", "Airtable", "AIRTABLE"], airtable),
    Rule::context("asana-token", &["asana", "Asana", "ASANA"], asana),
    Rule::context(
        "authorization",
        &["Bearer ", "bearer ", "BEARER ", "Basic ", "basic ", "uthorization", "UTHORIZATION"],
        authorization,
    ),
    Rule::context(
        "aws-secret-access-key",
        &["secret_access_key", "ecretAccessKey", "SECRET_ACCESS_KEY"],
        aws_secret,
    ),
    Rule::context("azure-function-key", &[".azurewebsites.net/"], azure_function),
    Rule::context("azure-shared-access", &["sig="], azure_signature),
    Rule::context("azure-storage-key", &["AccountKey=", "SharedAccessKey="], azure_key),
    Rule::context(
        "cloudflare-token",
        &["cloudflare", "CLOUDFLARE", "Cloudflare", "CF_API"],
        cloudflare,
    ),
    Rule::context(
        "command-password",
        &[
            "mysql",
            "mariadb",
            "sshpass",
            "docker login",
            "redis-cli",
            "mongosh",
            "mongodump",
            "mongorestore",
            "ldapsearch",
            "requirepass",
            "masterauth",
            "az login",
            "az acr login",
            "snowsql",
            "bindpw",
            "rootpw",
            "rcon_password",
        ],
        command_password,
    ),
    Rule::context("cookie", &["ookie:", "ookie\":", "ookie\\\":", "ookie':"], cookie),
    Rule::context("curl-cookie", &[" -b ", " --cookie "], curl_cookie),
    Rule::context("curl-user", &[" -u ", " --user "], curl_user),
    Rule::context("discord-webhook", &["/api/webhooks/"], webhook),
    Rule::context("docker-auth", &["\"auth", "\"_auth", "_auth"], docker_auth),
    Rule::context("heroku-api-key", &["heroku", "HEROKU", "Heroku"], heroku),
    Rule::context("login-call", &[".login(", "auth=(", "HTTPBasicAuth("], login_call),
    Rule::context("netrc", &["password "], netrc),
    Rule::context("pgpass", &[":5432:", ":6432:", "*:*:*:"], pgpass),
    Rule::context(
        "slack-webhook",
        &["hooks.slack.com/services/", "hooks.slack.com/workflows/", "hooks.slack.com/triggers/"],
        webhook,
    ),
    Rule::context("sql-password", sql::KEYWORDS, sql::sql_password),
    Rule::context("teams-webhook", &[".webhook.office.com/webhook"], teams_webhook),
    Rule::context("url-password", &["://", ":\\/\\/"], url_password),
    Rule::context(
        "zapier-webhook",
        &["hooks.zapier.com/hooks/catch/", "hook.us1.make.com/", "hook.eu1.make.com/"],
        zapier_webhook,
    ),
    // Comes last, so that a more specific rule takes precedence.
    Rule::named("assigned-secret", name::KEYWORDS, assigned),
    Rule::context("assigned-secret", name::WORD_KEYWORDS, assigned),
    Rule::context("assigned-secret", pair::KEYWORDS, pair::named_value),
];

pub(crate) fn all() -> impl Iterator<Item = &'static Rule> {
    TOKENS.iter().chain(CONTEXTS)
}

/// The names of all rules that look at forms, tokens first.
pub fn names() -> impl Iterator<Item = &'static str> {
    let mut last = "";
    // A rule may have two kinds of keywords.
    all().map(|rule| rule.name).filter(move |name| std::mem::replace(&mut last, name) != *name)
}

pub(crate) fn spans_lines(rule: &Rule) -> bool {
    rule.name == PRIVATE_KEY
}

#[cfg(test)]
mod examples;
