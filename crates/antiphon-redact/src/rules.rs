//! All rules. Of two that begin alike the one with the longer keyword is asked first, and a token
//! before a context.
//!
//! Each has examples in `rules/examples.rs`, and a row in `docs/redaction.md`; tests hold the three
//! together.

use crate::bytes::Set::{Alnum, Base64, Dashed, Dotted, Hex, Upper, Word};
use crate::context::{
    assigned, authorization, aws_secret, azure_key, cloudflare, curl_user, docker_auth, heroku,
    netrc, url_password, webhook,
};
use crate::rule::Rule;
use crate::token::{
    azure_client_secret, discord_bot, jwt, mailgun, openai, private_key, sendgrid, telegram_bot,
    terraform,
};

/// A private key is the one secret that has lines.
pub(crate) const PRIVATE_KEY: &str = "private-key";

const TOKENS: &[Rule] = &[
    Rule::token("age-secret-key", &["AGE-SECRET-KEY-1"], Upper, 50),
    Rule::token("anthropic-key", &["sk-ant-"], Dashed, 20),
    Rule::token("atlassian-token", &["ATATT3", "ATBB", "ATCTT3"], Base64, 28),
    Rule::fixed("aws-access-key-id", &["AKIA", "ASIA", "ABIA", "ACCA"], Upper, (16, 16)),
    Rule::shape("azure-client-secret", &["Q~"], azure_client_secret),
    Rule::token("buildkite-token", &["bkua_"], Alnum, 32),
    Rule::token("circleci-token", &["CCIPAT_", "CCIPRJ_"], Word, 32),
    Rule::token("cloudflare-origin-key", &["v1.0-"], Dashed, 100),
    Rule::fixed("crates-io-token", &["cio"], Alnum, (32, 32)),
    Rule::fixed("databricks-token", &["dapi"], Hex, (32, 32)),
    Rule::token("digitalocean-token", &["dop_v1_", "doo_v1_", "dor_v1_"], Hex, 48),
    Rule::shape(
        "discord-bot-token",
        &["MT", "Mj", "Mz", "ND", "NT", "Nj", "Nz", "OD", "OT"],
        discord_bot,
    ),
    Rule::token("docker-hub-token", &["dckr_pat_", "dckr_oat_"], Dashed, 20),
    Rule::token("doppler-token", &["dp.pt.", "dp.st.", "dp.ct.", "dp.sa."], Dotted, 36),
    Rule::token("figma-token", &["figd_"], Dashed, 36),
    Rule::token("flyio-token", &["fo1_", "fm1_", "fm1r_", "fm2_"], Base64, 40),
    Rule::token("github-fine-grained-token", &["github_pat_"], Word, 36),
    Rule::token("github-token", &["ghp_", "gho_", "ghu_", "ghs_", "ghr_"], Alnum, 30),
    Rule::token(
        "gitlab-token",
        &["glpat-", "gldt-", "glrt-", "glptt-", "glcbt-", "glsoat-", "glft-", "glimt-", "gloas-"],
        Dashed,
        20,
    ),
    Rule::token("google-api-key", &["AIza"], Dashed, 32),
    Rule::token("google-oauth-secret", &["GOCSPX-"], Dashed, 24),
    Rule::token("google-oauth-token", &["ya29."], Dashed, 24),
    Rule::token("grafana-token", &["glsa_", "glc_"], Word, 36),
    Rule::token("groq-key", &["gsk_"], Alnum, 40),
    Rule::token("heroku-key", &["HRKU-"], Dashed, 36),
    Rule::token("huggingface-token", &["hf_", "api_org_"], Alnum, 30),
    Rule::shape("jwt", &["eyJ"], jwt),
    Rule::token("langsmith-key", &["lsv2_pt_", "lsv2_sk_"], Word, 36),
    Rule::token("linear-key", &["lin_api_", "lin_oauth_"], Alnum, 32),
    Rule::shape("mailgun-key", &["key-"], mailgun),
    Rule::token("netlify-token", &["nfp_", "nfc_", "nfo_"], Alnum, 32),
    Rule::token("new-relic-key", &["NRAK-", "NRJS-", "NRII-"], Dashed, 19),
    Rule::token("notion-token", &["ntn_", "secret_"], Alnum, 40),
    Rule::token("npm-token", &["npm_"], Alnum, 36),
    Rule::token("onepassword-token", &["ops_eyJ"], Base64, 60),
    Rule::shape("openai-key", &["sk-"], openai),
    Rule::token("openrouter-key", &["sk-or-v1-"], Hex, 48),
    Rule::token("perplexity-key", &["pplx-"], Alnum, 40),
    Rule::token("planetscale-token", &["pscale_tkn_", "pscale_pw_", "pscale_oauth_"], Dotted, 32),
    Rule::token("postman-key", &["PMAK-"], Dashed, 50),
    Rule::shape(PRIVATE_KEY, &["-----BEGIN"], private_key),
    Rule::fixed("pulumi-token", &["pul-"], Hex, (40, 40)),
    Rule::token("pypi-token", &["pypi-AgE"], Dashed, 50),
    Rule::token("replicate-token", &["r8_"], Alnum, 36),
    Rule::token("rubygems-key", &["rubygems_"], Hex, 40),
    Rule::shape("sendgrid-key", &["SG."], sendgrid),
    Rule::token("sentry-token", &["sntrys_", "sntryu_"], Base64, 40),
    Rule::token("shopify-token", &["shpat_", "shpss_", "shppa_", "shpca_"], Hex, 32),
    Rule::token(
        "slack-token",
        &["xoxa-", "xoxb-", "xoxp-", "xoxr-", "xoxs-", "xoxe-", "xoxc-", "xoxd-", "xoxe.", "xapp-"],
        Dashed,
        20,
    ),
    Rule::token("sourcegraph-token", &["sgp_"], Word, 40),
    Rule::token("square-token", &["sq0atp-", "sq0csp-", "sq0idp-"], Dashed, 22),
    Rule::token(
        "stripe-key",
        &["sk_live_", "rk_live_", "sk_test_", "rk_test_", "whsec_"],
        Alnum,
        16,
    ),
    Rule::token("supabase-key", &["sbp_", "sb_secret_"], Word, 30),
    Rule::token("tailscale-key", &["tskey-"], Dashed, 24),
    Rule::shape("telegram-bot-token", &[":AA"], telegram_bot),
    Rule::shape("terraform-token", &[".atlasv1."], terraform),
    Rule::fixed("twilio-key", &["SK"], Hex, (32, 32)),
    Rule::token("vault-token", &["hvs.", "hvb.", "hvr."], Dashed, 24),
    Rule::token("xai-key", &["xai-"], Alnum, 60),
];

const CONTEXTS: &[Rule] = &[
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
    Rule::context("azure-storage-key", &["AccountKey=", "SharedAccessKey="], azure_key),
    Rule::context(
        "cloudflare-token",
        &["cloudflare", "CLOUDFLARE", "Cloudflare", "CF_API"],
        cloudflare,
    ),
    Rule::context("curl-user", &[" -u ", " --user "], curl_user),
    Rule::context("discord-webhook", &["/api/webhooks/"], webhook),
    Rule::context("docker-auth", &["\"auth", "\"_auth", "_auth"], docker_auth),
    Rule::context("heroku-api-key", &["heroku", "HEROKU", "Heroku"], heroku),
    Rule::context("netrc", &["password "], netrc),
    Rule::context(
        "slack-webhook",
        &["hooks.slack.com/services/", "hooks.slack.com/workflows/", "hooks.slack.com/triggers/"],
        webhook,
    ),
    Rule::context("url-password", &["://", ":\\/\\/"], url_password),
    // The last: what has a better name gets that.
    Rule::context(
        "assigned-secret",
        &[
            "password",
            "Password",
            "PASSWORD",
            "passwd",
            "Passwd",
            "PASSWD",
            "passphrase",
            "Passphrase",
            "PASSPHRASE",
            "pwd",
            "Pwd",
            "PWD",
            "secret",
            "Secret",
            "SECRET",
            "token",
            "Token",
            "TOKEN",
            "api_key",
            "api-key",
            "apikey",
            "apiKey",
            "ApiKey",
            "Api-Key",
            "API_KEY",
            "API-KEY",
            "APIKEY",
            "access_key",
            "accessKey",
            "AccessKey",
            "ACCESS_KEY",
            "private_key",
            "privateKey",
            "PrivateKey",
            "PRIVATE_KEY",
            "auth_key",
            "authKey",
            "AUTH_KEY",
            "signing_key",
            "signingKey",
            "SIGNING_KEY",
            "encryption_key",
            "encryptionKey",
            "ENCRYPTION_KEY",
            "master_key",
            "masterKey",
            "MASTER_KEY",
            "credential",
            "Credential",
            "CREDENTIAL",
        ],
        assigned,
    ),
];

pub(crate) fn all() -> impl Iterator<Item = &'static Rule> {
    TOKENS.iter().chain(CONTEXTS)
}

/// The names of all rules that look at forms, tokens first.
pub fn names() -> impl Iterator<Item = &'static str> {
    all().map(|rule| rule.name)
}

pub(crate) fn spans_lines(rule: &Rule) -> bool {
    rule.name == PRIVATE_KEY
}

#[cfg(test)]
mod examples;
