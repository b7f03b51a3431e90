//! JSON into nodes: types, ids and ranges; references are left to the memory.

use serde_json::Value;
use tmem_quirks::mend_surrogates;

use super::fields::Fields;
use super::{Document, DocumentError, FORMAT};
use crate::id::{ConversationId, IdError, ItemId, SceneId, TopicId, TurnId};
use crate::memory::Heading;
use crate::node::{
    Confidence, HorizonTrigger, Item, ItemKind, ItemTrigger, Persona, Scene, SceneTrigger, Topic,
    Turn,
};
use crate::time;

type Result<T> = std::result::Result<T, DocumentError>;

pub(super) fn value(json: &str) -> Result<Value> {
    let json = json.strip_prefix('\u{feff}').unwrap_or(json);
    serde_json::from_str(&mend_surrogates(json)).map_err(DocumentError::Json)
}

pub(super) fn document(value: Value, name: Option<&ConversationId>) -> Result<Document> {
    let mut fields = Fields::of(value, String::new())?;
    check_format(&mut fields)?;
    let given = conversation(&mut fields)?;
    let conversation = name.cloned().unwrap_or(given);
    let c = &conversation;
    let turns = match fields.optional_list("turns")? {
        Some(list) => Some(fields.each("turns", list, |f| turn(f, c))?),
        None => None,
    };
    Ok(Document {
        turns,
        open: ids(&mut fields, "open", |local| TurnId::new(c, local))?,
        scenes: fields.objects("scenes", |f| scene(f, c))?,
        topics: fields.objects("topics", |f| topic(f, c))?,
        items: fields.objects("items", |f| item(f, c))?,
        personas: fields.objects("personas", |f| persona(f, c))?,
        heading: heading(fields, c)?,
    })
}

fn check_format(fields: &mut Fields) -> Result<()> {
    match fields.take("format") {
        Some(Value::String(format)) if format == FORMAT => Ok(()),
        Some(found) => Err(DocumentError::Format {
            found: found.to_string(),
        }),
        None => Err(DocumentError::Format {
            found: "nothing".to_owned(),
        }),
    }
}

fn conversation(fields: &mut Fields) -> Result<ConversationId> {
    let name = fields.text("conversation")?;
    ConversationId::new(&name).map_err(|error| fields.error("conversation", error))
}

fn heading(mut fields: Fields, conversation: &ConversationId) -> Result<Heading> {
    let speakers = fields.texts("speakers")?;
    Ok(Heading {
        conversation: conversation.clone(),
        speakers,
        extra: fields.rest(),
    })
}

fn turn(mut f: Fields, conversation: &ConversationId) -> Result<Turn> {
    Ok(Turn {
        id: id(&mut f, |local| TurnId::new(conversation, local))?,
        speaker: f.text("speaker")?,
        text: f.text("text")?,
        at: match f.optional_text("at")? {
            Some(text) => Some(time::iso(&text).ok_or_else(|| {
                f.error(
                    "at",
                    format!("{text:?} is no time like 2024-05-10T20:00:00"),
                )
            })?),
            None => None,
        },
        image: f.optional_text("image")?,
        extra: f.rest(),
    })
}

fn scene(mut f: Fields, c: &ConversationId) -> Result<Scene> {
    Ok(Scene {
        id: id(&mut f, |local| SceneId::new(c, local))?,
        turns: ids(&mut f, "turns", |local| TurnId::new(c, local))?,
        title: f.text_or_empty("title")?,
        summary: f.text_or_empty("summary")?,
        narrative: f.text_or_empty("narrative")?,
        scene_trigger: f.object("scene_trigger")?.map(scene_trigger).transpose()?,
        horizon_triggers: f.objects("horizon_triggers", horizon_trigger)?,
        extra: f.rest(),
    })
}

fn scene_trigger(mut f: Fields) -> Result<SceneTrigger> {
    Ok(SceneTrigger {
        situation: f.text_or_empty("situation")?,
        object: f.text_or_empty("object")?,
        event: f.text_or_empty("event")?,
        emotion: f.text_or_empty("emotion")?,
        extra: f.rest(),
    })
}

fn horizon_trigger(mut f: Fields) -> Result<HorizonTrigger> {
    Ok(HorizonTrigger {
        dimension: f.text("dimension")?,
        text: f.text_or_empty("text")?,
        confidence: confidence(&mut f)?,
        extra: f.rest(),
    })
}

fn topic(mut f: Fields, c: &ConversationId) -> Result<Topic> {
    Ok(Topic {
        id: id(&mut f, |local| TopicId::new(c, local))?,
        title: f.text_or_empty("title")?,
        keywords: f.texts("keywords")?,
        scenes: ids(&mut f, "scenes", |local| SceneId::new(c, local))?,
        extra: f.rest(),
    })
}

fn item(mut f: Fields, c: &ConversationId) -> Result<Item> {
    Ok(Item {
        id: id(&mut f, |local| ItemId::new(c, local))?,
        kind: match f.text("kind")?.as_str() {
            "atomic" => ItemKind::Atomic,
            "connected" => ItemKind::Connected,
            other => {
                return Err(f.error("kind", format!("{other:?} is neither atomic nor connected")));
            }
        },
        text: f.text("text")?,
        scenes: ids(&mut f, "scenes", |local| SceneId::new(c, local))?,
        turns: ids(&mut f, "turns", |local| TurnId::new(c, local))?,
        supersedes: ids(&mut f, "supersedes", |local| ItemId::new(c, local))?,
        triggers: f.objects("triggers", item_trigger)?,
        extra: f.rest(),
    })
}

fn item_trigger(mut f: Fields) -> Result<ItemTrigger> {
    Ok(ItemTrigger {
        entity: f.text_or_empty("entity")?,
        bridge: f.text_or_empty("bridge")?,
        rationale: f.text_or_empty("rationale")?,
        confidence: confidence(&mut f)?,
        extra: f.rest(),
    })
}

fn persona(mut f: Fields, conversation: &ConversationId) -> Result<Persona> {
    Ok(Persona {
        conversation: conversation.clone(),
        speaker: f.text("speaker")?,
        summary: f.text("summary")?,
        extra: f.rest(),
    })
}

fn confidence(f: &mut Fields) -> Result<Option<Confidence>> {
    let number = f.number("confidence")?.map(Confidence::try_from);
    number
        .transpose()
        .map_err(|error| f.error("confidence", error))
}

fn id<I>(f: &mut Fields, make: impl Fn(&str) -> std::result::Result<I, IdError>) -> Result<I> {
    let local = f.text("id")?;
    make(&local).map_err(|error| f.error("id", error))
}

fn ids<I>(
    f: &mut Fields,
    key: &str,
    make: impl Fn(&str) -> std::result::Result<I, IdError>,
) -> Result<Vec<I>> {
    let locals = f.texts(key)?.into_iter().enumerate();
    locals
        .map(|(at, local)| make(&local).map_err(|error| f.error(&format!("{key}[{at}]"), error)))
        .collect()
}
