use std::fs;

use super::*;

fn environment(home: &Path, current: &Path) -> Environment {
    Environment {
        home: Some(home.to_owned()),
        current_folder: Some(current.to_owned()),
        ..Environment::default()
    }
}

#[test]
fn without_a_file_nothing_is_written_and_all_is_redacted() {
    let home = tempfile::tempdir().unwrap();
    let config = Config::load(None, &environment(home.path(), home.path())).unwrap();
    assert_eq!(config, Config::default());
    assert!(!config.logging.agent_sessions);
    assert!(config.redaction.enabled);
    assert_eq!(config.logging.logs_dir, Path::new("./logs"));
}

#[test]
fn the_named_file_counts_before_the_projects_and_that_before_the_users() {
    let home = tempfile::tempdir().unwrap();
    let [below, users] = ["project/a/b", ".config/antiphon"].map(|path| home.path().join(path));
    fs::create_dir_all(&below).unwrap();
    fs::create_dir_all(&users).unwrap();
    let write = |path: &Path| fs::write(path, "[logging]\nlogsDir = 'here'").unwrap();
    let mut environment = environment(home.path(), &below);
    let check = |file: PathBuf, explicit: Option<&Path>, environment: &Environment| {
        write(&file);
        let config = Config::load(explicit, environment).unwrap();
        assert_eq!(config.logging.logs_dir, file.parent().unwrap().join("here"));
        assert_eq!(config.file, Some(file));
    };
    check(users.join(CONFIG_FILE), None, &environment);
    check(home.path().join(CONFIG_FILE), None, &environment);
    check(home.path().join("project").join(CONFIG_FILE), None, &environment);
    let said = home.path().join("said.toml");
    environment.antiphon_config = Some(said.clone());
    check(said, None, &environment);
    let named = home.path().join("named.toml");
    check(named.clone(), Some(&named), &environment);
}

#[test]
fn a_file_above_home_is_not_the_projects() {
    let folder = tempfile::tempdir().unwrap();
    let home = folder.path().join("me");
    fs::create_dir(&home).unwrap();
    fs::write(folder.path().join(CONFIG_FILE), "[redaction]\nenabled = false").unwrap();
    assert!(Config::load(None, &environment(&home, &home)).unwrap().redaction.enabled);
}

#[test]
fn what_is_wrong_is_told_with_its_place_and_name() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(CONFIG_FILE);
    let settings = "known settings: `logging.agentSessions`, `logging.logsDir`, `redaction.enabled`, \
         `library.fresh`";
    let check = |text: &str, place: &str, message: &str| {
        fs::write(&path, text).unwrap();
        let error = Config::load(Some(&path), &Environment::default()).unwrap_err();
        assert_eq!(error.to_string(), format!("{}:{place}: {message}", path.display()));
    };
    let unknown = |key: &str| format!("unknown setting `{key}`; {settings}");
    check("[logging]\nlogDir = 'x'", "2:1", &unknown("logging.logDir"));
    check("[loging]\n", "1:2", &unknown("loging"));
    check("é = 1", "1:1", "invalid unquoted key, expected letters, numbers, `-`, `_`");
    check("agentSessions = true", "1:1", &unknown("agentSessions"));
    check("logging = 3", "1:11", "`logging` must be a table, not an integer");
    let wanted = "`logging.agentSessions` must be true or false, not a string";
    check("# one\n[logging]\n  agentSessions = \"yes\"\n", "3:19", wanted);
    let wanted = "`logging.logsDir` must be the path of a folder, in quotes, not a boolean";
    check("logging.logsDir = true", "1:19", wanted);
    // Of two, the first in the file.
    check("[redaction]\nzzz = 1\naaa = 2", "2:1", &unknown("redaction.zzz"));
}

#[test]
fn a_named_file_must_be_there() {
    let error = Config::load(Some(Path::new("none/such.toml")), &Environment::default());
    let error = error.unwrap_err().to_string();
    assert_eq!(error, "cannot read the configuration `none/such.toml`");
}

#[test]
fn every_setting_says_where_it_comes_from() {
    let home = tempfile::tempdir().unwrap();
    let file = home.path().join(CONFIG_FILE);
    fs::write(&file, "[library]\nfresh = false\n").unwrap();
    let mut environment = environment(home.path(), home.path());
    let rows = |environment: &Environment| {
        let rows = config_rows(&Config::load(None, environment).unwrap(), environment);
        move |key: &str| {
            let row = rows.iter().find(|row| row.key == key).unwrap().clone();
            (row.value, row.source)
        }
    };
    let of_file = |value: serde_json::Value| (value, file.display().to_string());
    let default = |value: serde_json::Value| (value, "default".to_owned());
    let row = rows(&environment);
    assert_eq!(row("library.fresh"), of_file(false.into()));
    assert_eq!(row("redaction.enabled"), default(true.into()));
    assert_eq!(row("prices"), default(serde_json::Value::Null));
    assert_eq!(row("store").1, "default");
    environment.antiphon_home = Some("/srv/kept".into());
    environment.antiphon_prices = Some("/srv/prices.json".into());
    environment.antiphon_config = Some(file.clone());
    let row = rows(&environment);
    assert_eq!(row("store"), ("/srv/kept".into(), "ANTIPHON_HOME".to_owned()));
    assert_eq!(row("prices"), ("/srv/prices.json".into(), "ANTIPHON_PRICES".to_owned()));
    assert_eq!(row("file"), (file.to_str().unwrap().into(), "ANTIPHON_CONFIG".to_owned()));
}
