//! Files into conversations: every format, its dirt, and what is refused.

use expect_test::{Expect, expect};
use serde_json::json;
use tmem_model::ingest::{Conversation, IngestError, Options, decode, parse};

fn read(text: &str) -> Result<Vec<Conversation>, String> {
    parse(text, &Options::default()).map_err(|error| match std::error::Error::source(&error) {
        Some(source) => format!("{error}: {source}"),
        None => error.to_string(),
    })
}

fn render(conversations: &[Conversation]) -> String {
    let mut out = String::new();
    for conversation in conversations {
        out += &format!("# {}\n", conversation.name.as_deref().unwrap_or("-"));
        for turn in &conversation.turns {
            let at = turn.at.map_or_else(|| "-".to_owned(), |at| at.to_string());
            out += &format!("{} | {} | {at} | {:?}", turn.id, turn.speaker, turn.text);
            out += &turn
                .image
                .iter()
                .map(|image| format!(" | {image}"))
                .collect::<String>();
            out.push('\n');
        }
        out.extend(conversation.notes.iter().map(|note| format!("! {note}\n")));
    }
    out
}

#[track_caller]
fn check(text: &str, expect: Expect) {
    expect.assert_eq(&render(&read(text).unwrap()));
}

#[track_caller]
fn refused(text: &str, expect: Expect) {
    expect.assert_eq(&read(text).unwrap_err());
}

fn locomo(sessions: serde_json::Value) -> String {
    let mut conversation = json!({"speaker_a": "Ada", "speaker_b": "Bo"});
    conversation
        .as_object_mut()
        .unwrap()
        .extend(sessions.as_object().unwrap().clone());
    json!([{"sample_id": "conv-1", "conversation": conversation, "qa": [{"evidence": ["D", 7]}],
        "event_summary": {"session_1": "ignored"}}])
    .to_string()
}

fn dated(date: &str) -> String {
    let turns = json!([{"speaker": "Ada", "dia_id": "D3:1", "text": "hi"}]);
    locomo(json!({"session_3_date_time": date, "session_3": turns}))
}

#[test]
fn sessions_stand_in_the_order_of_their_numbers() {
    let turn = |id: &str| json!([{"speaker": "Ada", "dia_id": id, "text": "hi"}]);
    let sessions = json!({
        "session_10": turn("D10:1"), "session_10_date_time": "9:00 am on 8 June, 2024",
        "session_2": turn("D2:1"), "session_1": turn("D1:1"),
        "session_1_observation": {"Ada": []}, "session_2_summary": "short"
    });
    check(
        &locomo(sessions),
        expect![[r#"
            # conv-1
            D1:1 | Ada | - | "hi"
            D2:1 | Ada | - | "hi"
            D10:1 | Ada | 2024-06-08T09:00:00 | "hi"
        "#]],
    );
}

#[test]
fn dates_of_sessions_that_are_not_there_are_noted() {
    let sessions = json!({
        "session_1": [{"speaker": "Ada", "dia_id": "D1:1", "text": "hi"}],
        "session_1_date_time": "9:00 am on 1 June, 2024",
        "session_2_date_time": "9:00 am on 8 June, 2024", "session_3_date_time": "nonsense"
    });
    check(
        &locomo(sessions),
        expect![[r#"
            # conv-1
            D1:1 | Ada | 2024-06-01T09:00:00 | "hi"
            ! ignored, for there are no such sessions: session_2_date_time, session_3_date_time
        "#]],
    );
}

#[test]
fn dates_are_read_in_all_their_variants() {
    for (text, at) in [
        ("12:20 am on 4 March, 2024", "2024-03-04T00:20:00"),
        ("12:20 pm on 4 March, 2024", "2024-03-04T12:20:00"),
        ("1:56 PM on 8 May, 2023", "2023-05-08T13:56:00"),
        ("1:56 pm  on  8 May 2023", "2023-05-08T13:56:00"),
        (" 1:56pm on 8th may, 2023 ", "2023-05-08T13:56:00"),
        ("1:56 p.m. on 8 Sept. 2023", "2023-09-08T13:56:00"),
        ("13:56 on 8 May, 2023", "2023-05-08T13:56:00"),
        ("2023-05-08 13:56", "2023-05-08T13:56:00"),
        ("2023-05-08T13:56:00.5Z", "2023-05-08T13:56:00.5"),
        ("2023-05-08T23:56:00-07:00", "2023-05-08T23:56:00"),
    ] {
        let read = read(&dated(text)).unwrap();
        assert_eq!(read[0].turns[0].at.unwrap().to_string(), at, "{text}");
    }
    assert_eq!(read(&dated(" ")).unwrap()[0].turns[0].at, None);
}

#[test]
fn an_unknown_date_is_refused_with_key_and_value() {
    refused(
        &dated("some day in May"),
        expect![[
            r#"element 1: `session_3_date_time` is "some day in May", which is no known time; write 2024-05-10T20:00 or 8:00 pm on 10 May, 2024, or leave it out"#
        ]],
    );
    for text in [
        "13:56 pm on 8 May, 2023",
        "0:10 am on 8 May, 2023",
        "1:56 pm on 31 April, 2023",
        "1:56 pm on 8 Ma, 2023",
        "1:5 pm on 8 May, 2023",
        "1:56 pm on 8 May, 23",
        "05/08/2023 13:56",
        "8 May, 2023",
    ] {
        assert!(read(&dated(text)).unwrap_err().contains(text), "{text}");
    }
}

#[test]
fn captions_are_kept_with_and_without_an_address() {
    let turns = json!([
        {"speaker": "Ada", "dia_id": "D1:1", "text": "Look!", "blip_caption": "a red kite"},
        {"speaker": "Bo", "dia_id": "D1:2", "text": "", "blip_caption": "a dog", "img_url": ["u"], "query": "dog"},
        {"speaker": "Bo", "text": "", "img_url": ["u"]}
    ]);
    check(
        &locomo(json!({"session_1": turns})),
        expect![[r#"
            # conv-1
            D1:1 | Ada | - | "Look!" | a red kite
            D1:2 | Bo | - | "" | a dog
            D1:3 | Bo | - | "" | no caption
        "#]],
    );
}

#[test]
fn a_sample_may_stand_alone_or_be_the_conversation_itself() {
    let bare = json!({"speaker_a": "Ada", "speaker_b": "Bo", "session_1": [{"speaker": "Ada", "text": "hi"}]});
    let expected = expect![[r#"
        # -
        D1:1 | Ada | - | "hi"
    "#]];
    check(&bare.to_string(), expected);
    let sample = json!({"sample_id": 7, "conversation": bare});
    assert_eq!(
        read(&sample.to_string()).unwrap()[0].name.as_deref(),
        Some("7")
    );
}

#[test]
fn what_is_wrong_in_a_sample_is_named_with_its_place() {
    let one = |turn| locomo(json!({"session_1": [turn]}));
    refused(
        &one(json!({"speaker": "Ada"})),
        expect!["element 1, session_1[0]: `text` is missing"],
    );
    refused(
        &one(json!({"text": "hi"})),
        expect!["element 1, session_1[0]: `speaker` is missing"],
    );
    refused(
        &one(json!({"speaker": "Ada", "text": ["hi"]})),
        expect![[r#"element 1, session_1[0]: `text` should be a string, not ["hi"]"#]],
    );
    refused(
        &one(json!(3)),
        expect!["element 1, session_1[0]: `turn` should be an object, not 3"],
    );
    refused(
        &locomo(json!({"session_1": "none"})),
        expect![[r#"element 1: `session_1` should be a list of turns, not "none""#]],
    );
    refused(
        &one(json!({"speaker": " ", "text": "hi"})),
        expect!["element 1, session_1[0]: `speaker` is blank; every turn needs a speaker"],
    );
}

#[test]
fn chats_keep_what_people_said() {
    let messages = json!([
        {"role": "System", "content": "You are a helper."},
        {"role": "user", "name": "Alia", "content": "I keep bees"},
        {"role": "assistant", "content": null, "tool_calls": [{"id": "x"}]},
        {"role": "tool", "content": "x".repeat(50_000)},
        {"role": "assistant", "content": "Fine.", "tool_calls": [{"id": "y"}]},
        {"role": "user", "name": "Bert", "content": [
            {"type": "text", "text": "Two things."}, {"type": "text", "text": "What do I keep?"}]},
        {"role": "user", "content": [{"type": "image_url", "image_url": {"url": "data:AAAA"}}]},
        {"role": "user", "content": [{"type": "input_audio", "input_audio": {}}]},
        {"role": "assistant", "content": null},
        {"role": "user", "content": "  "}
    ]);
    let expected = expect![[r#"
        # -
        S1:2 | Alia | - | "I keep bees"
        S1:5 | assistant | - | "Fine."
        S1:6 | Bert | - | "Two things.\nWhat do I keep?"
        S1:7 | user | - | "" | no caption
        ! left out: 2 × blank turn
        ! left out: 1 × message of role System
        ! left out: 1 × message of role tool
        ! left out: 1 × message without content
        ! left out: 1 × part of type input_audio
        ! left out: 2 × tool call
    "#]];
    let as_list = messages.to_string();
    let lines: Vec<_> = messages
        .as_array()
        .unwrap()
        .iter()
        .map(ToString::to_string)
        .collect();
    let as_object = json!({"model": "m", "messages": messages}).to_string();
    for text in [
        as_list,
        lines.join("\n"),
        lines.join("\r\n") + "\r\n\r\n",
        as_object,
    ] {
        expected.assert_eq(&render(&read(&text).unwrap()));
    }
}

#[test]
fn a_chat_a_line_is_a_conversation_a_line() {
    let line = |text: &str| json!({"messages": [{"role": "user", "content": text}]}).to_string();
    check(
        &format!("{}\n{}\n", line("one"), line("two")),
        expect![[r#"
            # -
            S1:1 | user | - | "one"
            # -
            S1:1 | user | - | "two"
        "#]],
    );
}

#[test]
fn turns_go_to_their_conversations_with_ids_and_times() {
    let text = r#"
        {"id": "a1", "speaker": "Ana", "text": "I hate olives", "at": "2024-05-10T20:00:00Z", "conversation": "lunch"}
        {"id": 7, "speaker": "Ben", "text": "I love olives", "at": "2024-05-10", "conversation": "lunch"}
        {"sender": "Cem", "text": "Nuts!", "session": 2, "image": "a bowl of nuts", "conversation": "lunch"}
        {"speaker": "Ana", "text": "Yes.", "conversation": "dinner"}
        {"speaker": "Ana", "text": "Yes.", "conversation": "dinner", "timestamp": "8:00 pm on 10 May, 2024"}"#;
    check(
        text,
        expect![[r#"
            # lunch
            a1 | Ana | 2024-05-10T20:00:00 | "I hate olives"
            7 | Ben | 2024-05-10T00:00:00 | "I love olives"
            S2:1 | Cem | - | "Nuts!" | a bowl of nuts
            # dinner
            S1:1 | Ana | - | "Yes."
            S1:2 | Ana | 2024-05-10T20:00:00 | "Yes."
        "#]],
    );
}

#[test]
fn a_missing_or_null_text_is_refused_by_name() {
    refused(
        r#"{"speaker": "A", "text": null}"#,
        expect!["line 1: `text` should be a string, not null"],
    );
    refused(
        "\n\n{\"speaker\": \"A\"}",
        expect!["line 3: `text` is missing"],
    );
    refused(r#"{"text": "hi"}"#, expect!["line 1: `speaker` is missing"]);
    refused(r#"{"role": "user"}"#, expect!["line 1: `text` is missing"]);
    refused(
        "{}",
        expect![
            "line 1: an object without any key; `text` and `speaker` are missing; known are LoCoMo samples, OpenAI chats (`messages`, or `role` and `content`) and turns (`speaker` and `text`)"
        ],
    );
    refused(
        "{\"speaker\": \"A\", \"text\": \"x\"}\n{\"speaker\": \"A\", \"text\": 5}",
        expect!["line 2: `text` should be a string, not 5"],
    );
    refused(
        r#"{"role": "user", "content": [7]}"#,
        expect!["line 1: `content[0]` should be a part with `type` and `text`, not 7"],
    );
    refused(
        r#"{"speaker": "A", "text": "x", "at": 1715370000}"#,
        expect![
            "line 1: `at` is \"1715370000\", which is no known time; write 2024-05-10T20:00 or 8:00 pm on 10 May, 2024, or leave it out"
        ],
    );
}

#[test]
fn a_conversation_name_is_no_path() {
    refused(
        r#"{"conversation": "x/../../y", "speaker": "A", "text": "x"}"#,
        expect![[
            r#"line 1: `conversation` is no name for a conversation: id "x/../../y" holds a character that ids may not hold"#
        ]],
    );
    refused(
        r#"{"sample_id": " ", "session_1": []}"#,
        expect!["line 1: `sample_id` is no name for a conversation: an id is empty"],
    );
}

#[test]
fn numbers_that_lost_their_digits_are_no_names() {
    let turn = |key: &str, number: &str| {
        format!("\n{{\"{key}\": {number}, \"speaker\": \"A\", \"text\": \"x\"}}")
    };
    refused(
        &turn("id", "123456789012345678901234567890"),
        expect![
            "line 2: `id` should be text, in quotes, or a whole number of at most 19 digits, not 1.2345678901234568e+29"
        ],
    );
    for key in ["session", "conversation"] {
        let error = read(&turn(key, "123456789012345678901234567890")).unwrap_err();
        assert!(error.starts_with(&format!("line 2: `{key}`")), "{error}");
    }
    assert!(read(r#"{"sample_id": 1.5, "session_1": []}"#).is_err());
    let most = read(&turn("id", "18446744073709551615")).unwrap();
    assert_eq!(most[0].turns[0].id, "18446744073709551615");
}

#[test]
fn one_id_with_two_contents_is_refused_and_with_one_counted() {
    let turn = |text: &str| json!({"id": "t", "speaker": "A", "text": text}).to_string() + "\n";
    refused(
        &(turn("x") + &turn("y")),
        expect![[r#"line 2: another turn of this conversation has the id "t" already"#]],
    );
    check(
        &(turn("x") + &turn("x")),
        expect![[r#"
            # -
            t | A | - | "x"
            ! left out: 1 × exact repeat of a turn
        "#]],
    );
}

#[test]
fn transcripts_have_times_and_lines_that_go_on() {
    let text = "\u{feff}[2024-05-10 20:00] Ada: I bought a boat.\r\nIt is blue,\r\n\r\n   Note: not new.\r\n\
        2024-05-10 20:01:30 Bo: Nice!\n[8:00 pm on 11 May, 2024] Dr. J. O'Neil: http://example.org: see\n\
        Jürgen Groß-Meier:\nhello: world, they said to me then\nhttps://example.org\n[laughs] Bo: ha\n小明：你好\n";
    check(
        text,
        expect![[r#"
            # -
            S1:1 | Ada | 2024-05-10T20:00:00 | "I bought a boat.\nIt is blue,\nNote: not new."
            S1:2 | Bo | 2024-05-10T20:01:30 | "Nice!"
            S1:3 | Dr. J. O'Neil | 2024-05-11T20:00:00 | "http://example.org: see"
            S1:5 | hello | - | "world, they said to me then\nhttps://example.org\n[laughs] Bo: ha"
            S1:6 | 小明 | - | "你好"
            ! left out: 1 × blank turn
        "#]],
    );
}

#[test]
fn people_are_called_by_emoji_too() {
    let text = "🌸: hi\nAna 🌊: hello\n👩‍🚀: and\n✅ Shopping list: milk\n❤️: yes\n\u{FE0F}: no";
    check(
        text,
        expect![[r#"
            # -
            S1:1 | 🌸 | - | "hi"
            S1:2 | Ana 🌊 | - | "hello"
            S1:3 | 👩‍🚀 | - | "and\n✅ Shopping list: milk"
            S1:4 | ❤️ | - | "yes\n\u{fe0f}: no"
        "#]],
    );
}

#[test]
fn a_transcript_that_begins_with_no_name_or_a_bad_time_is_refused() {
    refused(
        "Once upon a time, there was a ferry.\nAda: hi",
        expect![[
            r#"line 1: "Once upon a time, there was a ferry." does not begin with `Name:`, and there is no turn before it to continue; write `Name: text` or give JSON"#
        ]],
    );
    refused(
        "Ada: hi\n[05/10/24 20:00] Bo: hi",
        expect![[
            r#"line 2: `time` is "05/10/24 20:00", which is no known time; write 2024-05-10T20:00 or 8:00 pm on 10 May, 2024, or leave it out"#
        ]],
    );
    refused(
        "7:30 we met",
        expect![[
            r#"line 1: "7:30 we met" does not begin with `Name:`, and there is no turn before it to continue; write `Name: text` or give JSON"#
        ]],
    );
}

#[test]
fn skipped_turns_are_counted_and_shift_no_ids() {
    let text = "user: [internal] check the chat above\nuser: I ski\nuser: and SAVE WHAT matters";
    let options = Options {
        skip: vec!["[Internal]".into(), "save what".into(), " ".into()],
    };
    let read = parse(text, &options).unwrap();
    expect![[r#"
        # -
        S1:2 | user | - | "I ski"
        ! left out: 2 × turn on the skip list
    "#]]
    .assert_eq(&render(&read));
}

#[test]
fn reading_a_file_again_gives_the_same_ids() {
    let text = "Ada: Yes.\nBo: Yes.\nAda: Yes.";
    let (first, again) = (
        read(text).unwrap(),
        read(&format!("{text}\nBo: And more.")).unwrap(),
    );
    assert_eq!(first[0].turns, again[0].turns[..3]);
}

#[test]
fn odd_characters_are_mended_and_named() {
    let text = r#"{"id": "t1", "speaker": "A\u0000", "text": "ok \ud83d then\u0007"}"#;
    check(
        text,
        expect![[r#"
            # -
            t1 | A | - | "ok � then"
            ! turn t1: a broken character escape was replaced by U+FFFD
        "#]],
    );
    refused(
        r#"{"id": "a\u0000", "speaker": "A", "text": "x"}"#,
        expect![[
            r#"line 1: `id` cannot be used: id "a\0" holds a character that ids may not hold"#
        ]],
    );
}

#[test]
fn braces_and_markup_in_texts_stay_as_they_are() {
    let text = r#"my config is {"port": 80} and the rule is {{x}} <|im_start|> </memory>"#;
    let read = read(&json!({"speaker": "A", "text": text}).to_string()).unwrap();
    assert_eq!(read[0].turns[0].text, text);
}

#[test]
fn what_is_no_conversation_is_refused_with_a_way_out() {
    let unknown = "known are LoCoMo samples, OpenAI chats (`messages`, or `role` and `content`) and turns (`speaker` and `text`)";
    refused(
        "",
        expect!["there is nothing in it to read: no line of text and no turn"],
    );
    refused(
        " \n\u{feff} \n",
        expect![[
            r#"line 2: "\u{feff}" does not begin with `Name:`, and there is no turn before it to continue; write `Name: text` or give JSON"#
        ]],
    );
    refused(
        "[]",
        expect!["there is nothing in it to read: no line of text and no turn"],
    );
    assert_eq!(
        read("[1, 2]").unwrap_err(),
        format!("element 1: an object is expected, not 1; {unknown}")
    );
    assert_eq!(
        read(r#"{"a": 1, "b": 2}"#).unwrap_err(),
        format!("line 1: an object of unknown kind, with the keys a, b; {unknown}")
    );
    refused(
        r#"{"format": "tmem-memory/1"}"#,
        expect!["it is a memory document; read it with `tmem import`"],
    );
    refused(
        "{\"speaker\": \"A\", \"text\": \"x\"}\n{\"speaker\": \"A\", ",
        expect![
            "line 2: what begins here is no JSON; JSON Lines take one object a line: EOF while parsing a value at line 2 column 17"
        ],
    );
    refused(
        "{\"speaker\": \"A\", \"text\":\n{\"speaker\": \"B\", \"text\": \"x\"}\n",
        expect![
            "line 1: what begins here is no JSON; JSON Lines take one object a line: EOF while parsing an object at line 3 column 0"
        ],
    );
    refused(
        &"[".repeat(100_000),
        expect![
            "line 1: what begins here is no JSON; JSON Lines take one object a line: recursion limit exceeded at line 1 column 128"
        ],
    );
    refused(
        "\0\u{1}\u{2}\u{3}PNG",
        expect!["it is no text: it is full of control characters; save it as UTF-8"],
    );
}

#[test]
fn blank_turns_alone_are_a_conversation_without_turns() {
    check(
        r#"{"speaker": "A", "text": " \n"}"#,
        expect![[r"
            # -
            ! left out: 1 × blank turn
        "]],
    );
}

#[test]
fn a_very_long_line_is_read_whole() {
    let text = format!("Ada: {}", "word ".repeat(400_000));
    assert_eq!(read(&text).unwrap()[0].turns[0].text.len(), 1_999_999);
}

#[test]
fn bytes_are_text_in_utf_8_or_marked_utf_16() {
    assert_eq!(decode(b"\xEF\xBB\xBFhi").unwrap(), "hi");
    assert_eq!(decode(b"\xFF\xFEh\0i\0").unwrap(), "hi");
    assert_eq!(decode(b"\xFE\xFF\0h\0i").unwrap(), "hi");
    let error = decode(b"fine\nodd \xC3(\n").unwrap_err();
    assert!(
        matches!(&error, IngestError::Binary(why) if why == "line 2 is not UTF-8"),
        "{error}"
    );
    assert!(decode(b"\xFF\xFE\x00\xD8").is_err());
}
