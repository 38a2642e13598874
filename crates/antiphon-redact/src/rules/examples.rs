//! The examples of all rules: what each finds, and what looks like it and is none.
//!
//! The secrets were made up by chance, and stand here in parts, so that nobody takes this file for
//! a leak.

use std::collections::BTreeSet;

use crate::{Counts, Redactor, rule_names};

struct Example {
    rule: &'static str,
    /// The parts of a text with a secret.
    found: &'static [&'static str],
    not_found: &'static str,
}

const EXAMPLES: &[Example] = &[
    Example {
        rule: "age-secret-key",
        found: &[
            "AGE-SECRET-KEY-1",
            "VJ0DE9GYD7OCF21E",
            "QF2DHPD0DPCIT1J9",
            "HUMGNYGEDO692V44",
            "YUQMQFU86W",
        ],
        not_found: "AGE-SECRET-KEY-1 begins each",
    },
    Example {
        rule: "anthropic-key",
        found: &[
            "sk-ant-",
            "WDtOehHBkYwj9GBc",
            "SeYKM062vwUxOGN1",
            "Ee3fsFUSedWUuRMT",
            "2DtVz6SxbExk",
        ],
        not_found: "sk-ant-your-key-goes-here-xxxxxxxx",
    },
    Example {
        rule: "assigned-secret",
        found: &["db_pass", "word = \"", "juazVfUmZ4pvnS7g", "\""],
        not_found: "password = \"changeme\"; token = next_token(); api_key: process.env.API_KEY; secret: ${SECRET}",
    },
    Example {
        rule: "atlassian-token",
        found: &[
            "ATATT3",
            "PhGdoZtiXqAA85Gf",
            "kDAKs6i2C5KsVBxT",
            "6zpjfmjpSpaG3Nmr",
            "tajBJyPMviU4",
        ],
        not_found: "ATATT3 is how they begin",
    },
    Example {
        rule: "authorization",
        found: &[
            "Author",
            "ization: Bear",
            "er ",
            "hz4DUEtWxtxAIKOz",
            "Rva0X4GzDumJu1jC",
            "MzNpf28w",
        ],
        not_found: "Authorization: Bearer $TOKEN, or the bearer of authentication-mechanism",
    },
    Example {
        rule: "aws-access-key-id",
        found: &["AKIA", "D5ZZZZG6ZDMEN4KH"],
        not_found: "AKIAIOSFODNN7EXAMPLE",
    },
    Example {
        rule: "aws-secret-access-key",
        found: &[
            "aws_secret_",
            "access_key = ",
            "v3O3q/voC78/abdr",
            "M7Gu8JZuJPCI2IWT",
            "CzExcOTx",
        ],
        not_found: "aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
    },
    Example {
        rule: "azure-client-secret",
        found: &["N2O8", "Q~", "ir3cwnmzfbdcKy5V", "EG487e5OQA9hVfrv", "Mp"],
        not_found: "Q~ is nothing",
    },
    Example {
        rule: "azure-storage-key",
        found: &[
            "Account",
            "Key=",
            "D+aTeIpgByHARK9M",
            "j6n/BGADZP7NwUIX",
            "2fkyvye2uHmhR7tU",
            "w29H6BQkIt2HoH7n",
            "BmdQMOgxMQQWcUBa",
            "0auVUK",
            "==",
        ],
        not_found: "AccountKey=...",
    },
    Example {
        rule: "buildkite-token",
        found: &["bkua_", "a13043b026c48bbf", "33feff9243a8f506", "b40928b5"],
        not_found: "bkua_short",
    },
    Example {
        rule: "circleci-token",
        found: &["CCIPAT_", "xZpJJZHwQpP10Y4n", "1q2AX1pnIGxWbb0s", "FrnUOxD1"],
        not_found: "CCIPAT_ and more",
    },
    Example {
        rule: "cloudflare-origin-key",
        found: &[
            "v1.0-",
            "ec255404e4fb4400",
            "34d66086-97a8d41",
            "bed440e50454f31a",
            "f3176813e02ea68e",
            "f786e4d3cea27d26",
            "934b484e73cf575d",
            "cad6ba2b0aee0ca9",
            "23732881584d8c4f",
            "a2815d2802827283",
            "e0ad841735815699",
            "69e58b08100",
        ],
        not_found: "v1.0-rc1-of-something",
    },
    Example {
        rule: "cloudflare-token",
        found: &["CLOUDFLARE_API_", "TOKEN=", "a8uA3gNaSbnmGZKM", "s5R7JHjMnBOhjkIY", "HgbgekIG"],
        not_found: "cloudflare is a company with a name of less than forty characters",
    },
    Example {
        rule: "crates-io-token",
        found: &["cio", "WHKnHFq9DgS2RCSG", "J36AHuUopwn36VWQ"],
        not_found: "cio, conclusio and precious things",
    },
    Example {
        rule: "curl-user",
        found: &["curl -s -u ", "admin:", "2EPC11dRaTZN", " https://host/"],
        not_found: "docker run -u 1000:1000 image; curl -u user:password host",
    },
    Example {
        rule: "databricks-token",
        found: &["dapi", "4cb14028d512c979", "1e558e08baa7196b"],
        not_found: "dapi-gateway and rapidapi",
    },
    Example {
        rule: "digitalocean-token",
        found: &[
            "dop_v1_",
            "50ac2f86702824c1",
            "c099724caf4941d4",
            "072014b3ce107f80",
            "e222f828767efc2f",
        ],
        not_found: "dop_v1_0000000000000000000000000000000000000000000000000000000000000000",
    },
    Example {
        rule: "discord-bot-token",
        found: &[
            "MTE",
            "Rf8SHAmD4kyqWpmcrxd7K7b",
            ".",
            "38dr0H",
            ".",
            "VXRYFdgjvYanTXuN",
            "NDYRgFvyrzhyFzkD",
            "q1j8T7",
        ],
        not_found: "AND, NOT, MODE and MTExNzE0.x.y",
    },
    Example {
        rule: "discord-webhook",
        found: &[
            "https://discord.com",
            "/api/webhooks/",
            "112233445566778899/",
            "vjVqxskcsQg47Nex",
            "nDPzbdp6ANYcDdPq",
            "qpck9N4mva752EuB",
            "Or6GeqTzTVNpBuA6",
            "VGb0",
        ],
        not_found: "https://discord.com/api/webhooks/ID/TOKEN",
    },
    Example {
        rule: "docker-auth",
        found: &["\"auth", "\": \"", "YWRtaW46aHVudGVy", "MmZvb2Jhcg=", "=\""],
        not_found: "\"auth\": \"required\", \"author\": \"somebody\"",
    },
    Example {
        rule: "docker-hub-token",
        found: &["dckr_pat_", "8TtZcPQRneOjwrRX", "UuPMiaFdGsT"],
        not_found: "dckr_pat_xxxxxxxxxxxxxxxxxxxxxxxxxxx",
    },
    Example {
        rule: "doppler-token",
        found: &["dp.pt.", "gUoTGtVItEEEZh7K", "nuf9FbtEe2HDszo8", "9oeNfjXIryi"],
        not_found: "dp.pt.short",
    },
    Example {
        rule: "figma-token",
        found: &["figd_", "O2QHs6hVypG76GAb", "kaGTDAuWjBxzvh3w", "avYw3Ah9"],
        not_found: "figd_ids",
    },
    Example {
        rule: "flyio-token",
        found: &[
            "fm2_",
            "nVa7XtryeAz5Ney9",
            "CYs4dsgd3StQ9jqs",
            "CHvnZy0/C6b1YQA8",
            "6+KKoWfd9WBDPYiR",
            "5tGd89KikFBwturX",
        ],
        not_found: "fm2_flag",
    },
    Example {
        rule: "github-fine-grained-token",
        found: &[
            "github_pat_",
            "XRrARquFKSAhkRke",
            "oH71GKpD8wYDCiKn",
            "qfmwKfvqyr1Mn6bX",
            "5BzBXIozswYdGsMy",
            "iTHIQ054ofs7qzAR",
            "DC",
        ],
        not_found: "github_pat_name",
    },
    Example {
        rule: "github-token",
        found: &["ghp_", "u425bicCVY71FNGa", "eA9992I4EDq0gpjj", "ITg2"],
        not_found: "ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
    },
    Example {
        rule: "gitlab-token",
        found: &["glpat-", "WUR4Y7EfKZca0ipM8cRV"],
        not_found: "glpat-your_token_goes_here",
    },
    Example {
        rule: "google-api-key",
        found: &["AIza", "uiQrIQCUYhgeuINn", "zrp0OaaJuEsvR36q", "FIq"],
        not_found: "AIzawa Prefecture",
    },
    Example {
        rule: "google-oauth-secret",
        found: &["GOCSPX-", "KqbBVRudbnG6TRBf", "rpSC9ypGcUwV"],
        not_found: "GOCSPX-...",
    },
    Example {
        rule: "google-oauth-token",
        found: &[
            "ya29.",
            "ByTAna1tX4HeoGnu",
            "Z2npEprY6tgPGPm7",
            "pGB8SdOj9AdobOjB",
            "dVdmAD7V6vWh",
        ],
        not_found: "ya29.short",
    },
    Example {
        rule: "grafana-token",
        found: &["glsa_", "f9kwnmR9IXEcuSWz", "3ywDkgafsfxB6hKY", "ozxZ2u21C"],
        not_found: "glsa_x",
    },
    Example {
        rule: "groq-key",
        found: &["gsk_", "fdVFnyJ8DnvyX7Fb", "QBq1QZAczcEe18dr", "nXe7OwyswPcrXVUv", "9sua"],
        not_found: "gsk_name_of_a_thing",
    },
    Example {
        rule: "heroku-api-key",
        found: &["HEROKU_API", "_KEY=", "7255bc50-9cb3-ac", "ac-23db-7c6e9b7d", "180a"],
        not_found: "heroku run console; 550e8400-e29b-41d4-a716-446655440000",
    },
    Example {
        rule: "heroku-key",
        found: &["HRKU-", "WYO81Qeb2pgFVEZz", "0r8C2Gi9Gma19Xu2", "UZjOqv5v"],
        not_found: "HRKU-1",
    },
    Example {
        rule: "huggingface-token",
        found: &["hf_", "Ey00OfHnAYkqBeRc", "FKJvkC6gerPfogBG", "VD"],
        not_found: "hf_hub_download and self.hf_model",
    },
    Example {
        rule: "jwt",
        found: &[
            "eyJ",
            "aEV8n1ck93pe9P5y6XiZ",
            ".eyJ",
            "Dg99z3bQeDwv2pFh",
            "QyjwpXdmVDK6jD5j",
            "sBBqjbsM",
            ".",
            "3tw1krGgvE7FhjHd",
            "Q70S9oKF3thrYnyC",
            "rq9qgztB7kd",
        ],
        not_found: "eyJhbGciOiJIUzI1NiJ9 alone",
    },
    Example {
        rule: "langsmith-key",
        found: &["lsv2_pt_", "574de739988b886e", "7577496a2c8773e1", "30f7eb19731"],
        not_found: "lsv2_pt_x",
    },
    Example {
        rule: "linear-key",
        found: &["lin_api_", "nO2Nn9eyH5mDOrZZ", "SagQOVPxocywjcor", "cOWR8o2a"],
        not_found: "lin_api_key",
    },
    Example {
        rule: "mailgun-key",
        found: &["key-", "940ea4e095bd1d68", "54575622f8564696"],
        not_found: "cache-key-02d1ba9f20df4875b15b0be23b7ac193",
    },
    Example {
        rule: "netlify-token",
        found: &["nfp_", "2vBTymPueoc0GKFe", "Bg0ASKjQJfRkAUsB", "tSuBduXM"],
        not_found: "nfp_x",
    },
    Example {
        rule: "netrc",
        found: &["machine host login joe ", "password ", "1jqVifnsJ30i"],
        not_found: "the login page wants a password field",
    },
    Example {
        rule: "new-relic-key",
        found: &["NRAK-", "X11BYN00OA2K2HF0", "Y4KIADJ0FY7"],
        not_found: "NRAK-1",
    },
    Example {
        rule: "notion-token",
        found: &["ntn_", "kjxtkIk9egzGY101", "nui3c8FvdO9Qzf7V", "PU27kQ04pPAP4n"],
        not_found: "secret_name_of_the_thing_that_is_long_enough_to_be_one",
    },
    Example {
        rule: "npm-token",
        found: &["npm_", "3FmMocAIkzxhjqW2", "7nc6K3YTcS3vhzOE", "K4QZ"],
        not_found: "npm_config_registry_and_other_settings",
    },
    Example {
        rule: "onepassword-token",
        found: &[
            "ops_eyJ",
            "uRBuNqCzSyDHDmba",
            "PGEqDYPZ2E3m1FAg",
            "eixCyf1DHHSccQif",
            "9WvZWHfdYH7zR0ib",
            "4ePWU2hni6Gt180k",
            "T0W9pe3xPYrkv7Ps",
            "72EjrH8FoNrPHqvy",
            "cnmAkQ9s",
        ],
        not_found: "ops_eyJ",
    },
    Example {
        rule: "openai-key",
        found: &["sk-proj-", "Tv7zk00rhZIdQ4y5", "DKINU67grJQ4AX1y", "rzyMjywYfDpmPXdt"],
        not_found: "sk-circle-fade-dot-and-sk-folding-cube-animation-2",
    },
    Example {
        rule: "openrouter-key",
        found: &[
            "sk-or-v1-",
            "89a01749ddb14f71",
            "010b93b7d946bf54",
            "074e3248c801bef7",
            "50110c57513064d6",
        ],
        not_found: "sk-or-v1-0000000000000000000000000000000000000000000000000000000000000000",
    },
    Example {
        rule: "perplexity-key",
        found: &["pplx-", "IORHRRB2PmHueuQd", "6W0FVJaz4CX8EfXR", "DmpgrpRchw7X9U4r"],
        not_found: "pplx-api",
    },
    Example {
        rule: "planetscale-token",
        found: &["pscale_tkn_", "VdsQKTCT08IrtR97", "of6Hakr7q3XnkX8v", "n6zwOqz84Q8"],
        not_found: "pscale_tkn_id",
    },
    Example {
        rule: "postman-key",
        found: &[
            "PMAK-",
            "ff00d796c2541033",
            "5b400141212b62c3",
            "76631129f34369aa",
            "d80b891baf9",
        ],
        not_found: "PMAK-x",
    },
    Example {
        rule: "private-key",
        found: &[
            "-----BEGIN RSA PRIVATE",
            " KEY-----\n",
            "/WGDHbI1Jibq/fpP",
            "mkgurK2/bbg9UXnr",
            "b3OQMEIqUDgx5gVm",
            "cshEGNHYshhhA6iJ",
            "\n",
            "Np5pjSMEXAk+2b+Q",
            "zUBO3OIcA+dZywAq",
            "3wVC3M18v2A4KdvI",
            "j/T9xq5CSQaygIme",
            "\n",
            "vCnHSbpiBAZ9EQc166cc",
            "=\n-----END RSA PRIVATE",
            " KEY-----",
        ],
        not_found: "it begins with -----BEGIN PRIVATE KEY----- and ends with -----END PRIVATE KEY-----",
    },
    Example {
        rule: "pulumi-token",
        found: &["pul-", "0d0d3bf16295d069", "10bf3f5fb85967f5", "32f3ab3c"],
        not_found: "pul-request",
    },
    Example {
        rule: "pypi-token",
        found: &[
            "pypi-AgE",
            "9A76XfC6RbyourC7",
            "JHkz6QpEiJOYUYOR",
            "cxNvIj53DSKXvkED",
            "UZrNpiwER6UqHnsu",
            "YV23PjWjqWvOIxkq",
            "vnrWgkSgnzjj0uWu",
            "Csng",
        ],
        not_found: "pypi-AgE",
    },
    Example {
        rule: "replicate-token",
        found: &["r8_", "Q8gso6zEcaA40CUp", "HQtEbjrOXAaXq84C", "UMNXR"],
        not_found: "r8_x",
    },
    Example {
        rule: "rubygems-key",
        found: &["rubygems_", "d7753eda83d7c58d", "fe0d5a0cf318656b", "3e6f0bade65c3b18"],
        not_found: "rubygems_version",
    },
    Example {
        rule: "sendgrid-key",
        found: &[
            "SG",
            ".",
            "5RPs8TPsQJ19cPgrhIaCqc",
            ".",
            "thuxRkhdO8H7sfEN",
            "J9jDhHi6t8BMtsqX",
            "fXJt3EPUMpR",
        ],
        not_found: "SG.x.y",
    },
    Example {
        rule: "sentry-token",
        found: &[
            "sntrys_",
            "szAdaeB8BQUTxNrg",
            "puXAIp1AEoki9Ze1",
            "1QnFRKWp2jxSQ320",
            "2BEtYKRiZ3Fx04ps",
            "VzTrCTmFa1W1sxqR",
        ],
        not_found: "sntrys_x",
    },
    Example {
        rule: "shopify-token",
        found: &["shpat_", "9affd2b49c12a4b0", "062983475eb46c52"],
        not_found: "shpat_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
    },
    Example {
        rule: "slack-token",
        found: &["xoxb-", "S77K0Q3unGUoIfX3", "DS6hKhrBp2iFGKdF", "E7jUGqGkJO5Xak3v", "EU"],
        not_found: "xoxb-your-token-here-and-here",
    },
    Example {
        rule: "slack-webhook",
        found: &[
            "https://hooks.slack",
            ".com/services/",
            "T0",
            "SPPHFMMG",
            "/B0",
            "YNNVTGJQ",
            "/",
            "Hop4DTiVrO7DNyJqAOHoi5Yh",
        ],
        not_found: "https://hooks.slack.com/services/T000/B000/XXXXXXXXXXXXXXXXXXXXXXXX",
    },
    Example {
        rule: "sourcegraph-token",
        found: &["sgp_", "f9ebdd25b001a3ff", "416d4a3baf69dad8", "199bfca8"],
        not_found: "sgp_x",
    },
    Example {
        rule: "square-token",
        found: &["sq0atp-", "5HxoRG0hwnvVuiNQf0cAWK"],
        not_found: "sq0atp-x",
    },
    Example {
        rule: "stripe-key",
        found: &["sk_live_", "6AJMdAugacn28FOZSd0H8JPz"],
        not_found: "sk_live_xxxxxxxxxxxxxxxxxxxxxxxx",
    },
    Example {
        rule: "supabase-key",
        found: &["sbp_", "4261e5351d30b498", "95d1a0d1f13dce20", "c4fd32f6"],
        not_found: "sbp_x",
    },
    Example {
        rule: "tailscale-key",
        found: &["tskey-", "7jQaCaaTSh4fo5hi", "FbsWMqDWXm9dyZXV", "U4jWYftQ"],
        not_found: "tskey-auth",
    },
    Example {
        rule: "telegram-bot-token",
        found: &["1234567890", ":AA", "znKVyE7KuPFF2ubq", "wpnHJzNAa9xk5qvK", "v"],
        not_found: "12:AAA",
    },
    Example {
        rule: "terraform-token",
        found: &[
            "Gst6otdZbkKeO5",
            ".atlas",
            "v1.",
            "xDSdIz3DxXYgIpTX",
            "9jBwSxiTnPP4s23I",
            "gX4X9YFs0QVQ8ViB",
            "5gaBZKNhGAMjB40s",
            "5PO",
        ],
        not_found: "x.atlasv1.y",
    },
    Example {
        rule: "twilio-key",
        found: &["SK", "fe8110102c995f1a", "bef543b5dfce8a98"],
        not_found: "SKIP, TASK and SKU0123",
    },
    Example {
        rule: "url-password",
        found: &["postgres://joe", ":", "THfJ4sXZYzbSVM", "@db.host:5432/x"],
        not_found: "postgres://user:password@host, https://host:8080/@scope, https://joe:$PASS@host",
    },
    Example {
        rule: "vault-token",
        found: &[
            "hvs.",
            "dPRV12Ow5OWa3jO3",
            "uNC6qzzTzOZ7p1Dt",
            "UavrsCkN82Y60ct3",
            "j165Mjs411KTZ8Gx",
            "JfJKG1zn0YW9puOd",
            "TAEVo9rNYa",
        ],
        not_found: "hvs.x",
    },
    Example {
        rule: "xai-key",
        found: &[
            "xai-",
            "0zEJfJ1xZepANI7r",
            "63IvFHNnnonfm1Ut",
            "yMMxAZI4jqc9Gy5g",
            "yQE0fjvObxsIObgc",
            "o55MGNMor9ZsCgDZ",
        ],
        not_found: "xai-grok-beta",
    },
];

fn redacted(text: &str) -> (String, Counts) {
    let mut counts = Counts::default();
    let text = Redactor::default().redact(text, &mut counts).into_owned();
    (text, counts)
}

#[test]
fn every_rule_finds_its_example_and_leaves_the_other() {
    for example in EXAMPLES {
        let text = example.found.concat();
        let (found, counts) = redacted(&text);
        let rules: Vec<_> = counts.iter().collect();
        assert_eq!(rules, [(example.rule, 1)], "{text}: {found}");
        let marker = format!("[redacted:{}]", example.rule);
        assert!(found.contains(&marker), "{found}");
        let is_random = |part: &str| part.len() >= 10 && part.bytes().any(|b| b.is_ascii_digit());
        let left = example.found.iter().find(|part| is_random(part) && found.contains(**part));
        assert_eq!(
            left.filter(|part| !part.contains(':') && !part.ends_with('/')),
            None,
            "{found}"
        );
        assert_eq!(redacted(example.not_found).0, example.not_found);
        assert_eq!(redacted(&found).0, found);
    }
}

#[test]
fn every_rule_has_an_example() {
    let examples: BTreeSet<&str> = EXAMPLES.iter().map(|example| example.rule).collect();
    assert_eq!(rule_names().collect::<BTreeSet<_>>(), examples);
    assert_eq!(examples.len(), EXAMPLES.len(), "one each");
}

#[test]
fn every_rule_is_described() {
    let described = include_str!("../../../../docs/redaction.md");
    for rule in rule_names().chain([crate::ENVIRONMENT_RULE]) {
        assert!(described.contains(&format!("| `{rule}` |")), "no row for {rule}");
    }
}
