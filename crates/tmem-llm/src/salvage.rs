//! What can be kept of a reply that its token cap cut: the elements of its open list that are
//! complete.

use serde_json::Value;

use crate::json::{readable, without_reasoning};

/// The value that a cut reply began, ending after the last complete element of the outermost list
/// that is open at the cut; `None` if no element of it is complete.
///
/// Elements deeper down are not used: the element that holds them is incomplete itself.
pub fn salvage(text: &str) -> Option<Value> {
    let text = readable(text);
    let spoken = without_reasoning(&text).ok()?;
    let json = &spoken[spoken.find(['{', '['])?..];
    let cut = Cut::find(json)?;
    serde_json::from_str(&format!("{}{}", &json[..cut.end], cut.closers)).ok()
}

/// Where to cut, and what closes the brackets that are open there.
struct Cut {
    end: usize,
    closers: String,
}

impl Cut {
    fn find(json: &str) -> Option<Self> {
        let mut open: Vec<char> = Vec::new();
        let mut last: Option<(usize, usize)> = None; // end of an element, and the depth of its list
        let mut string = Quoted::default();
        for (at, c) in json.char_indices() {
            if string.takes(c) {
                continue;
            }
            match c {
                '{' => open.push('}'),
                '[' => open.push(']'),
                '}' | ']' => {
                    if open.pop() != Some(c) || open.is_empty() {
                        return None; // not JSON, or not cut
                    }
                    last = element_end(&open, at + 1, last);
                }
                ',' => last = element_end(&open, at, last),
                _ => {}
            }
        }
        let list = open.iter().position(|closer| *closer == ']')? + 1;
        let (end, depth) = last?;
        (depth == list).then(|| Self {
            end,
            closers: open[..list].iter().rev().collect(),
        })
    }
}

/// An element of the outermost open list ends at `at` if that list is the innermost open bracket.
fn element_end(open: &[char], at: usize, last: Option<(usize, usize)>) -> Option<(usize, usize)> {
    let list = open
        .iter()
        .position(|closer| *closer == ']')
        .map(|index| index + 1);
    match list {
        Some(depth) if depth == open.len() => Some((at, depth)),
        Some(depth) => last.filter(|(_, known)| *known == depth),
        None => None, // the list is closed: what follows belongs to another
    }
}

/// Follows strings and their escapes.
#[derive(Default)]
struct Quoted {
    inside: bool,
    escaped: bool,
}

impl Quoted {
    /// Whether `c` belongs to a string.
    fn takes(&mut self, c: char) -> bool {
        match c {
            _ if self.escaped => self.escaped = false,
            '\\' if self.inside => self.escaped = true,
            '"' => {
                self.inside = !self.inside;
                return true;
            }
            _ => {}
        }
        self.inside
    }
}
