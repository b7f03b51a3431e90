//! One reader for all replies.

use expect_test::{Expect, expect};

use super::{Boat, Fleet};
use crate::{
    json::{self, Fault},
    salvage::salvage,
};

#[track_caller]
fn check(text: &str, expected: Expect) {
    let shown = match json::read::<Fleet>(text) {
        Ok(fleet) => {
            let (accepted, refused) = fleet.boats.split();
            let names = accepted
                .iter()
                .map(|(index, boat)| format!("{index} {}", boat.name));
            let reasons = refused.iter().map(ToString::to_string);
            names.chain(reasons).collect::<Vec<_>>().join("; ")
        }
        Err(fault) => format!("fault: {fault}"),
    };
    expected.assert_eq(&shown);
}

#[test]
fn a_fence_is_unwrapped_whatever_surrounds_it() {
    check(
        "```json\n{\"boats\":[{\"name\":\"Heron\"}]}\n```",
        expect!["0 Heron"],
    );
    check(
        "```\n{\"boats\":[{\"name\":\"Heron\"}]}\n```\nNote: one boat.",
        expect!["0 Heron"],
    );
    check(
        "Here it is:\n```json\n{\"boats\":[{\"name\":\"Heron\"}]}",
        expect!["0 Heron"],
    );
    check("```json\n{\"boats\":[]}", expect![""]);
}

#[test]
fn an_empty_fence_is_an_empty_reply() {
    for text in [
        "```json\n```",
        "```",
        "``````",
        "",
        " \n",
        "<think>hm</think>\n",
    ] {
        assert_eq!(json::read::<Fleet>(text), Err(Fault::Empty), "{text:?}");
    }
}

#[test]
fn reasoning_is_passed_over_even_if_it_holds_braces() {
    check(
        "<think>maybe {boats: none}?</think>\n{\"boats\":[{\"name\":\"Heron\"}]}",
        expect!["0 Heron"],
    );
    check(
        "<think>{\"boats\":[]}?</think><thought>no</thought>{\"boats\":[{\"name\":\"Heron\"}]}",
        expect!["0 Heron"],
    );
    check(
        "<Reasoning>{\"boats\":[]}</Reasoning>{\"boats\":[{\"name\":\"Heron\"}]}",
        expect!["0 Heron"],
    );
}

#[test]
fn reasoning_whose_opening_tag_is_damaged_or_lost_is_passed_over() {
    check(
        "think>\n{\"boats\":[]}\n</think>{\"boats\":[{\"name\":\"Heron\"}]}",
        expect!["0 Heron"],
    );
    check(
        "First {\"boats\":[]} perhaps.\n</think>\n{\"boats\":[{\"name\":\"Heron\"}]}",
        expect!["0 Heron"],
    );
    check(
        "think>\nboth fit\n</think>\"{\"area\":\"x\"}\"",
        expect!["fault: `boats` is missing"],
    );
}

#[test]
fn nothing_is_taken_from_reasoning_that_never_ends() {
    check(
        "<thought>first I list {\"boats\":[{\"name\":\"draft\"}]}",
        expect![[
            r#"fault: the reply holds no JSON: "<thought>first I list {\"boats\":[{\"name\":\"draft\"}]}""#
        ]],
    );
}

#[test]
fn a_tag_within_a_value_is_part_of_the_value() {
    check(
        r#"{"boats":[{"name":"</think>"},{"name":"Heron"}]}"#,
        expect!["0 </think>; 1 Heron"],
    );
}

#[test]
fn the_first_value_that_fits_is_taken() {
    check(
        r#"Of [1] and {x}: {"boats":[{"name":"Heron"}]} or {"boats":[]}"#,
        expect!["0 Heron"],
    );
    check(
        r#"{"note":"see below"} {"boats":[{"name":"Heron"}]}"#,
        expect!["0 Heron"],
    );
}

#[test]
fn a_reply_that_is_one_quoted_text_is_unquoted() {
    check(
        r#""{\"boats\":[{\"name\":\"Heron\"}]}""#,
        expect!["0 Heron"],
    );
}

#[test]
fn each_element_stands_for_itself() {
    check(
        r#"{"boats":["Heron",{"Heron is red":""},{"name":"Tern"},null,{"name":7}]}"#,
        expect![[
            r#"2 Tern; element 0: `.` does not fit: invalid type: string "Heron", expected struct Boat; element 1: `name` is missing; element 3: `.` does not fit: invalid type: null, expected struct Boat; element 4: `name` does not fit: invalid type: integer `7`, expected a string"#
        ]],
    );
}

#[test]
fn other_names_are_off_schema_and_not_an_empty_list() {
    check(
        r#"{"vessels":[{"title":"Heron"}]}"#,
        expect!["fault: `boats` is missing"],
    );
    check(
        r#"{"boats":{"name":"Heron"}}"#,
        expect!["fault: `boats` does not fit: invalid type: map, expected a sequence"],
    );
    check(
        r#"[{"name":"Heron"}]"#,
        expect!["fault: `.` does not fit: a list where an object was wanted"],
    );
    check(
        "**Boats:** Heron, Tern",
        expect![[r#"fault: the reply holds no JSON: "**Boats:** Heron, Tern""#]],
    );
}

#[test]
fn a_path_leads_to_the_fault() {
    #[derive(Debug, serde::Deserialize)]
    struct Log {
        #[expect(dead_code, reason = "only its absence matters")]
        trips: Vec<Boat>,
    }
    let fault = json::read::<Log>(r#"{"trips":[{"name":"a"},{"nom":"b"}]}"#).unwrap_err();
    assert_eq!(
        fault,
        Fault::Missing {
            path: "trips[1].name".to_owned()
        }
    );
}

#[test]
fn broken_json_is_neither_mended_nor_searched_for_parts() {
    check(
        "{oops",
        expect![[r#"fault: the reply holds no JSON: "{oops""#]],
    );
    check(
        r#"{"boats":[{"name":"Heron"},{"na"#,
        expect![[
            r#"fault: the JSON of the reply breaks off: "{\"boats\":[{\"name\":\"Heron\"},{\"na""#
        ]],
    );
    check(
        r#"{'boats': []}"#,
        expect!["fault: `.` does not fit: a list where an object was wanted"],
    );
}

#[test]
fn hostile_texts_end_in_a_fault() {
    let deep = "[".repeat(5000);
    let wide = "{\"a\":".repeat(5000);
    for text in [
        deep.as_str(),
        &wide,
        "{\"a\":1e999}",
        "\u{0}{",
        "<think>",
        "</think>",
        "<",
        "\"",
        "\"{",
        "\\u",
        "\\",
    ] {
        assert!(json::read::<Fleet>(text).is_err());
    }
}

#[test]
fn excerpts_end_between_characters() {
    for length in 195..205 {
        let text = format!("{}{}", "a".repeat(length), "好🙂é".repeat(20));
        let Err(Fault::NotJson { excerpt }) = json::read::<Fleet>(&text) else {
            panic!()
        };
        assert!(excerpt.chars().count() <= 201);
    }
}

#[test]
fn half_a_character_does_not_cost_the_reply() {
    check(
        r#"{"boats":[{"name":"ok \ud83d then"}]}"#,
        expect!["0 ok \u{fffd} then"],
    );
}

#[track_caller]
fn check_salvage(text: &str, expected: Option<&str>) {
    assert_eq!(
        salvage(text).map(|value| value.to_string()).as_deref(),
        expected,
        "{text}"
    );
}

#[test]
fn complete_elements_of_a_cut_list_are_kept() {
    let kept = Some(r#"{"boats":[{"name":"Heron"}]}"#);
    check_salvage(r#"{"boats":[{"name":"Heron"},{"name":"Te"#, kept);
    check_salvage(r#"{"boats":[{"name":"Heron"},"#, kept);
    check_salvage(r#"{"boats":[{"name":"Heron"}"#, kept);
    check_salvage(
        "<think>[1]</think>```json\n{\"boats\":[{\"name\":\"Heron\"},{",
        kept,
    );
    check_salvage(r#"{"n":["a","b","#, Some(r#"{"n":["a","b"]}"#));
    check_salvage(r#"{"a":[1],"b":[2,3"#, Some(r#"{"a":[1],"b":[2]}"#));
}

#[test]
fn an_element_that_is_cut_itself_is_not_kept_in_part() {
    check_salvage(r#"{"boats":[{"name":"A","crew":["x","y"#, None);
    check_salvage(
        r#"{"boats":[{"name":"A","crew":["x"]},{"name":"B","crew":["y","#,
        Some(r#"{"boats":[{"name":"A","crew":["x"]}]}"#),
    );
    check_salvage(r#"{"boats":[{"name":"a, ] }\" [","#, None);
}

#[test]
fn nothing_is_salvaged_where_no_element_is_complete() {
    for text in [
        r#"{"boats":["#,
        r#"{"name":"Her"#,
        "{",
        "",
        "Boats: Heron, Te",
        r#"{"boats":[{"na"#,
        r#"{"a":[1],"b":["#,
        "]}",
        r#"{"boats":[]}"#,
    ] {
        check_salvage(text, None);
    }
}
