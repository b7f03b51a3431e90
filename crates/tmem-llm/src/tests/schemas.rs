//! What goes over the wire as a schema.

use std::collections::HashMap;

use expect_test::{Expect, expect};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::Fleet;
use crate::{
    Each, ReplySchema,
    schema::{assert_strict, breaches, fits, strict},
};

fn schema<T: JsonSchema>() -> Result<Value, String> {
    let schema = ReplySchema::of::<T>("test").map_err(|error| error.to_string())?;
    Ok(schema.schema)
}

#[track_caller]
fn check<T: JsonSchema>(expected: Expect) {
    let shown = match schema::<T>() {
        Ok(schema) => {
            assert_strict(&schema);
            schema.to_string()
        }
        Err(error) => format!("error: {error}"),
    };
    expected.assert_eq(&shown);
}

#[test]
fn a_list_of_each_is_a_plain_list_and_objects_are_closed() {
    check::<Fleet>(expect![[
        r#"{"type":"object","properties":{"boats":{"type":"array","items":{"description":"A boat that somebody mentioned.","type":"object","properties":{"name":{"description":"What it is called.","type":"string"}},"required":["name"],"additionalProperties":false}}},"description":"A list of boats, as a reply.","required":["boats"],"additionalProperties":false}"#
    ]]);
}

/// Fields in another order than that of the alphabet.
#[derive(Deserialize, JsonSchema)]
#[expect(dead_code, reason = "only its schema is used")]
struct Trip {
    #[schemars(length(max = 80))]
    why: String,
    #[serde(default)]
    crew: u8,
    boat: Option<super::Boat>,
    when: Option<String>,
    #[schemars(length(max = 3))]
    stops: Option<Vec<Stop>>,
    kind: Kind,
}

#[derive(Deserialize, JsonSchema)]
#[expect(dead_code, reason = "only its schema is used")]
struct Stop {
    place: String,
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Kind {
    /// For fun.
    Cruise,
    /// With cargo.
    Haul,
}

#[test]
fn options_are_required_and_may_be_null_and_the_order_is_kept() {
    check::<Trip>(expect![[
        r#"{"type":"object","properties":{"why":{"type":"string","maxLength":80},"crew":{"type":"integer","minimum":0,"maximum":255},"boat":{"type":["object","null"],"properties":{"name":{"type":"string","description":"What it is called."}},"description":"A boat that somebody mentioned.","required":["name"],"additionalProperties":false},"when":{"type":["string","null"]},"stops":{"type":["array","null"],"items":{"type":"object","properties":{"place":{"type":"string"}},"required":["place"],"additionalProperties":false},"maxItems":3},"kind":{"description":"cruise: For fun.\nhaul: With cargo.","type":"string","enum":["cruise","haul"]}},"description":"Fields in another order than that of the alphabet.","required":["why","crew","boat","when","stops","kind"],"additionalProperties":false}"#
    ]]);
}

#[test]
fn an_enum_with_data_becomes_alternatives() {
    #[derive(Deserialize, JsonSchema)]
    #[expect(dead_code, reason = "only its schema is used")]
    enum Move {
        Sail { to: String },
        Moor(u8),
    }
    #[derive(Deserialize, JsonSchema)]
    #[expect(dead_code, reason = "only its schema is used")]
    struct Moves {
        moves: Vec<Move>,
    }
    check::<Moves>(expect![[
        r#"{"type":"object","properties":{"moves":{"type":"array","items":{"anyOf":[{"type":"object","properties":{"Sail":{"type":"object","properties":{"to":{"type":"string"}},"required":["to"],"additionalProperties":false}},"required":["Sail"],"additionalProperties":false},{"type":"object","properties":{"Moor":{"type":"integer","minimum":0,"maximum":255}},"required":["Moor"],"additionalProperties":false}]}}},"required":["moves"],"additionalProperties":false}"#
    ]]);
}

#[test]
fn what_cannot_be_strict_is_refused_with_its_place() {
    #[derive(JsonSchema)]
    #[expect(dead_code, reason = "only its schema is used")]
    struct Map {
        crew: HashMap<String, u8>,
    }
    #[derive(JsonSchema)]
    #[expect(dead_code, reason = "only its schema is used")]
    struct Free {
        list: Vec<Inner>,
    }
    #[derive(JsonSchema)]
    #[expect(dead_code, reason = "only its schema is used")]
    struct Inner {
        any: Value,
    }
    #[derive(JsonSchema)]
    #[expect(dead_code, reason = "only its schema is used")]
    struct Pair {
        pair: (u8, u8),
    }
    #[derive(JsonSchema)]
    #[expect(dead_code, reason = "only its schema is used")]
    struct Endless {
        next: Option<Box<Endless>>,
    }
    check::<Map>(expect!["error: `crew`: a map has no fixed fields"]);
    check::<Free>(expect!["error: `list[].any`: any value is allowed"]);
    check::<Pair>(expect![
        "error: `pair`: `prefixItems` is not part of strict schemas"
    ]);
    assert!(
        schema::<Endless>()
            .unwrap_err()
            .ends_with("the type contains itself")
    );
    check::<Each<u8>>(expect!["error: `.`: the root is not an object"]);
}

#[test]
fn an_object_type_with_null_is_closed_as_well() {
    let given = json!({"type": "object", "properties": {
        "at": {"type": ["object", "null"], "properties": {"place": {"type": "string", "format": "x", "default": ""}}},
        "how": {"$ref": "#/$defs/How"},
    }, "$defs": {"How": {"title": "How", "type": "string"}}, "$schema": "x", "title": "T"});
    let strict = strict(&given).unwrap();
    assert_strict(&strict);
    assert_eq!(
        strict["properties"]["at"],
        json!({
            "type": ["object", "null"], "properties": {"place": {"type": "string"}},
            "required": ["place"], "additionalProperties": false,
        })
    );
    assert_eq!(strict["properties"]["how"], json!({"type": "string"}));
}

#[test]
fn the_check_of_strictness_finds_every_breach() {
    let loose = json!({"$schema": "x", "type": "object", "properties": {
        "a": {"type": ["object", "null"], "properties": {"b": {}}, "required": []},
        "c": {"oneOf": []}, "d": {"type": "array"},
    }, "required": ["a", "c"], "additionalProperties": false});
    expect![[r#"
        #: keyword `$schema`
        #/a: additional properties
        #/a: `b` is not required
        #/a/b: no type
        #/c: keyword `oneOf`
        #/c: no type
        #: `d` is not required
        #/d: a list without items"#]]
    .assert_eq(&breaches(&loose).join("\n"));
}

#[test]
fn values_are_checked_on_our_side() {
    let schema = schema::<Trip>().unwrap();
    let good = json!({"why": "wind", "crew": 2, "boat": null, "when": null, "stops": [{"place": "x"}], "kind": "haul"});
    assert_eq!(fits(&schema, &good), Ok(()));
    let check = |change: fn(&mut Value), expected: &str| {
        let mut value = good.clone();
        change(&mut value);
        assert_eq!(fits(&schema, &value).unwrap_err().to_string(), expected);
    };
    check(
        |v| v["why"] = json!(1),
        r#"`why` does not fit: expected "string""#,
    );
    check(
        |v| v["kind"] = json!("row"),
        "`kind` does not fit: not one of the allowed values",
    );
    check(|v| v["stops"][0] = json!({}), "`stops[0].place` is missing");
    check(
        |v| v["boat"] = json!({"nom": "x"}),
        "`boat.name` is missing",
    );
    check(
        |v| v["more"] = json!(1),
        "`more` does not fit: an unknown field",
    );
}

#[test]
fn a_name_is_made_fit_for_the_wire() {
    let name = |given: &str| ReplySchema::of::<Fleet>(given).unwrap().name;
    assert_eq!(name("scene triggers/é"), "scene_triggers__");
    assert_eq!(name(&"x".repeat(100)).len(), 64);
}
