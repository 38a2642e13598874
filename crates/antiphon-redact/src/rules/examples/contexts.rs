//! Examples of contexts.

use super::Example;

pub(super) const EXAMPLES: &[Example] = &[
    Example {
        rule: "airtable-token",
        found: &[
            "airtable: ",
            "pat",
            "qR2BU7oWiReckZ",
            ".",
            "cbf91007264fd531",
            "b8c2629e72ca0b56",
            "8b55cdbb4f6c42c0",
            "267f207507da3609",
        ],
        not_found: "airtable has patterns, and keys such as keyboard",
    },
    Example {
        rule: "asana-token",
        found: &["asana = ", "1/", "1200123456789012", ":", "a7b15015cabfea1c", "e305461f49f92939"],
        not_found: "asana.com/0/1200123456789012/list",
    },
    Example {
        rule: "assigned-secret",
        found: &["db_pass", "word = \"", "juazVfUmZ4pvnS7g", "\""],
        not_found: "password = \"changeme\"; token = next_token(); api_key: process.env.API_KEY; secret: ${SECRET}",
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
        rule: "azure-function-key",
        found: &[
            "https://x.azure",
            "websites.net/api/f?code=",
            "ie1UUThsIKsATf3r",
            "QCKDjv34eHuShhaU",
            "YjJqF3dU3cO7yODf",
            "QJG1",
            "==",
        ],
        not_found: "https://x.azurewebsites.net/api/f?code=$CODE",
    },
    Example {
        rule: "azure-shared-access",
        found: &[
            "https://x/c?sv=1&si",
            "g=",
            "qVmIYa34CMOR2OrQ",
            "Jhl5CM0fl0WXOM8B",
            "P2lcM8Y8aav",
            "%3D",
        ],
        not_found: "sig=9, ?sig=short, config=xVs71jhOELNAxVs71jhOELNAxVs71jhOELNAxVs71jhOELNA",
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
        rule: "cloudflare-token",
        found: &["CLOUDFLARE_API_", "TOKEN=", "a8uA3gNaSbnmGZKM", "s5R7JHjMnBOhjkIY", "HgbgekIG"],
        not_found: "cloudflare is a company with a name of less than forty characters",
    },
    Example {
        rule: "command-password",
        found: &["mysql -u root ", "-p", "aTxbzOTLpOpQbKT8", " app"],
        not_found: "mysql -u root -p app; docker run mysql -p 3306:3306; sshpass -p $PASS ssh x; mysql -P3306 -port=3306",
    },
    Example {
        rule: "cookie",
        found: &["Cook", "ie: sessionid=", "ar3xl7yvdty3912e", "t7jgfi8lpziu5x91"],
        not_found: "Cookie: theme=dark; lang=en; consent=essential-cookies-only",
    },
    Example {
        rule: "curl-cookie",
        found: &["curl -b ", "'sid=", "scrSoIsR0kem37ZI", "XdeIRYKBuGrZwCOd", "C0jOr5HQ", "' host"],
        not_found: "git checkout -b name=xVs71jhOELNAxVs71jhOELNA; curl -b cookies.txt host",
    },
    Example {
        rule: "curl-user",
        found: &["curl -s -u ", "admin:", "2EPC11dRaTZN", " https://host/"],
        not_found: "docker run -u 1000:1000 image; curl -u user:password host",
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
        rule: "heroku-api-key",
        found: &["HEROKU_API", "_KEY=", "7255bc50-9cb3-ac", "ac-23db-7c6e9b7d", "180a"],
        not_found: "heroku run console; 550e8400-e29b-41d4-a716-446655440000",
    },
    Example {
        rule: "login-call",
        found: &["smtp.log", "in(\"joe\", \"", "iLyjPlxTRaL8UiWy", "\")"],
        not_found: "client.login(\"joe\", \"password\"); app.login(user, secret)",
    },
    Example {
        rule: "netrc",
        found: &["machine host login joe ", "password ", "1jqVifnsJ30i"],
        not_found: "the login page wants a password field",
    },
    Example {
        rule: "pgpass",
        found: &["db.host", ":5432:app:joe:", "6LYYaMcPSFY9i6oH"],
        not_found: "localhost:5432:5432 and db:5432:app:joe:$PASSWORD",
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
        rule: "url-password",
        found: &["postgres://joe", ":", "THfJ4sXZYzbSVM", "@db.host:5432/x"],
        not_found: "postgres://user:password@host, https://host:8080/@scope, https://joe:$PASS@host",
    },
];
