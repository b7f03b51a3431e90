//! Precedence, misspelt keys, wrong values.

use expect_test::{Expect, expect};

use super::*;

fn file(text: &str) -> Layers {
    Layers::new().text("tmem.toml", text)
}

fn env(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
    pairs
        .iter()
        .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
        .collect()
}

#[track_caller]
fn check_refused(layers: Layers, expect: Expect) {
    expect.assert_eq(&layers.resolve().expect_err("refused").to_string());
}

#[track_caller]
fn check_model(layers: Layers, expect: &str) {
    assert_eq!(layers.resolve().expect("valid").llm.model, expect);
}

#[test]
fn a_flag_beats_the_environment_beats_the_file_beats_the_default() {
    let default = LlmConfig::default().model;
    let variables = || env(&[("TMEM_LLM_MODEL", "from-env")]);
    check_model(Layers::new(), &default);
    check_model(file("[llm]\nmodel = 'from-file'"), "from-file");
    check_model(
        file("[llm]\nmodel = 'from-file'").env(variables()),
        "from-env",
    );
    let all = file("[llm]\nmodel = 'from-file'")
        .env(variables())
        .flag("llm.model", "from-flag");
    check_model(all, "from-flag");
}

#[test]
fn a_misspelt_key_is_refused_with_the_nearest_known_one() {
    check_refused(
        file("[embed]\nembeding_model = 'x'"),
        expect!["tmem.toml: unknown key in [embed] `embeding_model`, did you mean `model`?"],
    );
    check_refused(
        file("[llm]\nmodell = 'x'"),
        expect!["tmem.toml: unknown key in [llm] `modell`, did you mean `model`?"],
    );
    check_refused(
        file("[lmm]\nmodel = 'x'"),
        expect!["tmem.toml: unknown section or top-level key `lmm`, did you mean `llm`?"],
    );
    check_refused(
        file("model = 'x'"),
        expect!["tmem.toml: unknown section or top-level key `model`, did you mean `llm.model`?"],
    );
    check_refused(
        Layers::new().env(env(&[("TMEM_LLM_MODLE", "x")])),
        expect!["TMEM_LLM_MODLE: unknown key in [llm] `modle`, did you mean `model`?"],
    );
}

#[test]
fn a_key_in_the_wrong_section_is_refused_with_its_own() {
    check_refused(
        file("[answer]\nbase_url = 'http://localhost'"),
        expect!["tmem.toml: unknown key in [answer] `base_url`, did you mean `llm.base_url`?"],
    );
}

#[test]
fn a_value_of_the_wrong_type_is_refused_when_it_is_read() {
    check_refused(
        file("[llm]\ntimeout_secs = '60'"),
        expect![[
            r#"tmem.toml: [llm]: invalid type: string "60", expected a nonzero u64 in `timeout_secs`"#
        ]],
    );
    check_refused(
        file("[llm]\ntimeout_secs = 0"),
        expect![
            "tmem.toml: [llm]: invalid value: integer `0`, expected a nonzero u64 in `timeout_secs`"
        ],
    );
    check_refused(
        file("[llm]\nconcurrency = 0"),
        expect![
            "tmem.toml: [llm]: invalid value: integer `0`, expected a nonzero usize in `concurrency`"
        ],
    );
    check_refused(
        file("[llm]\nkind = 'gemini'"),
        expect![
            "tmem.toml: [llm]: unknown variant `gemini`, expected one of `local`, `openai`, `none` in `kind`"
        ],
    );
    check_refused(
        file("[retrieve]\npreset = 'huge'"),
        expect!["tmem.toml: [retrieve]: `preset` is one of `paper`, `balanced` and `wide`"],
    );
    check_refused(
        file("llm = 3"),
        expect!["tmem.toml: [llm]: invalid type: integer `3`, expected struct LlmConfig"],
    );
    check_refused(
        file("retrieve = 3"),
        expect!["tmem.toml: [retrieve]: it is a section, not a value"],
    );
}

#[test]
fn text_that_is_not_toml_is_refused_with_the_line() {
    let error = file("[llm\nmodel = 1").resolve().expect_err("refused");
    assert_eq!(error.to_string(), "tmem.toml is not valid TOML");
    let source = std::error::Error::source(&error).expect("the parser's own words");
    assert!(source.to_string().contains("line 1"), "{source}");
}

#[test]
fn a_model_named_by_a_number_is_still_a_name() {
    check_model(Layers::new().env(env(&[("TMEM_LLM_MODEL", "4")])), "4");
    let config = Layers::new()
        .env(env(&[("TMEM_LLM_CONCURRENCY", "7")]))
        .resolve();
    assert_eq!(config.expect("valid").llm.concurrency.get(), 7);
}

#[test]
fn foreign_variables_are_left_alone() {
    let variables = env(&[("TMEM_MODELS", "/x"), ("TMEM_DATA", "/y"), ("PATH", "/bin")]);
    assert_eq!(
        Layers::new().env(variables).resolve().expect("valid"),
        default_config()
    );
}

fn default_config() -> Config {
    Layers::new().resolve().expect("defaults are valid")
}

#[test]
fn the_embedded_model_takes_the_small_profile_and_a_hosted_one_the_full() {
    assert_eq!(default_config().build, BuildConfig::small());
    let hosted = file("[llm]\nkind = 'openai'").resolve().expect("valid");
    assert_eq!(hosted.build, BuildConfig::default());
    let chosen = file("[build]\nprofile = 'full'").resolve().expect("valid");
    assert_eq!(chosen.build, BuildConfig::default());
    let replayed = Layers::new().replayed(true).resolve().expect("valid");
    assert_eq!(replayed.build, BuildConfig::default());
}

#[test]
fn a_preset_fills_what_is_not_given() {
    let wide = file("[retrieve]\npreset = 'wide'")
        .resolve()
        .expect("valid");
    assert_eq!(wide.retrieve, RetrieveConfig::wide());
    assert_eq!(default_config().retrieve, RetrieveConfig::balanced());
}

#[test]
fn what_is_printed_reads_back_as_the_same_settings() {
    let config = file("[llm]\nkind = 'openai'\n[budget]\nrun_tokens = 9")
        .resolve()
        .expect("valid");
    let again = file(&config.to_toml()).resolve().expect("valid");
    assert_eq!(again, config);
}

#[test]
fn a_stage_may_have_a_model_of_its_own() {
    let text = "[llm]\nkind = 'openai'\nmodel = 'big'\n[llm.stages.segment]\nmodel = 'quick'";
    let llm = file(text).resolve().expect("valid").llm;
    assert_eq!(llm.for_stage(&llm.stages["segment"]).model, "quick");
    assert_eq!(llm.for_stage(&llm.stages["segment"]).base_url, llm.base_url);
}

#[test]
fn no_address_is_printed_with_its_password() {
    let url = "http://ivo:sesame@h/v1";
    let text = format!(
        "[llm]\nbase_url = '{url}'\nproxy = '{url}'\n[llm.stages.items]\nbase_url = '{url}'\n\
         [embed]\nbase_url = '{url}'\n[rerank]\nbase_url = '{url}'"
    );
    let config = file(&text).resolve().expect("valid");
    let json = serde_json::to_string(&config).expect("plain values");
    for shown in [config.to_toml(), json] {
        assert_eq!(shown.matches("http://h/v1").count(), 5, "{shown}");
        assert!(!shown.contains("sesame"), "{shown}");
    }
}
