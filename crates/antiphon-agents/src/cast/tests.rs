use super::*;

fn read(text: &str) -> Result<Cast, String> {
    Cast::parse(text, "bad.toml", Path::new("/casts")).map_err(|error| error.to_string())
}

#[test]
fn what_is_wrong_has_a_place_and_a_right_word() {
    for (text, wanted) in [
        (
            "title = \"x\"\nmodle = \"openai/x\"\n",
            "bad.toml:2:1: unknown key `modle` in the cast; did you mean `model`?",
        ),
        (
            "[limits]\nagents = \"many\"\n",
            "bad.toml:2:10: `agents` must be a whole number of at least 0, not a string",
        ),
        (
            "[[agent]]\nname = \"Ann\"\nsytem = \"A\"\n",
            "bad.toml:3:1: unknown key `sytem` in `agent`; did you mean `system`?",
        ),
        (
            "model = \"gpt\"\n",
            "bad.toml:1:9: `gpt` is not a model: write openai/NAME, anthropic/NAME, script:FILE or replay:SESSION",
        ),
        (
            "[[trigger]]\nevery = \"1s\"\nto = \"Bob\"\n",
            "bad.toml:1:1: there is no agent `Bob`; known are `Root`",
        ),
        (
            "[[trigger]]\nevery = \"soon\"\nto = \"Root\"\n",
            "bad.toml:2:9: `every` must be a time such as \"30s\", \"10m\" or \"2h\", not a string",
        ),
        ("[[hook]]\nname = \"H\"\n", "bad.toml:1:1: the hook `H` needs `before` or `after`"),
        (
            "[[agent]]\nname = \"A\"\n[[hook]]\nname = \"A\"\nbefore = [\"*\"]\n",
            "bad.toml:3:1: the name `A` is given twice",
        ),
        ("agent = 1\n", "bad.toml:1:9: write [[agent]] for each"),
    ] {
        assert_eq!(read(text).unwrap_err(), wanted, "{text}");
    }
    assert!(read("[[agent]]\nsystem = \"Who?\"\n").unwrap_err().contains("`agent` needs `name`"));
    assert!(read("[root]\nname = \"Host\n").unwrap_err().starts_with("bad.toml:2:"));
}

#[test]
fn paths_start_from_the_folder_of_the_cast() {
    let cast =
        read("model = \"script:turns.jsonl\"\n[[trigger]]\nfile = \"a.json\"\nto = \"Root\"\n");
    let cast = cast.unwrap();
    assert_eq!(cast.model.as_deref(), Some("script:/casts/turns.jsonl"));
    assert_eq!(cast.triggers[0].what, TriggerKind::File("/casts/a.json".into()));
}

#[test]
fn a_cast_survives_its_way_through_a_log() {
    for bundled in BUNDLED {
        let cast = bundled.cast(Path::new("/")).unwrap();
        let json = cast.to_json().unwrap();
        assert_eq!(Cast::of_json(json.as_str()).as_ref(), Some(&cast), "{}", bundled.name);
    }
}

#[test]
fn every_bundled_script_has_turns_for_its_agents() {
    for bundled in BUNDLED {
        crate::Script::parse(bundled.script, bundled.name).unwrap();
        assert!(bundled.cast(Path::new("/")).unwrap().prompt.is_some(), "{}", bundled.name);
    }
}
