//! Flat retrieval: turns, windows of turns, or sessions, ranked by BM25, cosine, or both.
//!
//! The yardstick that every memory has to beat at the same token cost.

use std::collections::BTreeSet;
use std::fmt;

use serde::{Deserialize, Serialize};
use tmem_index::Vector;
use tmem_model::{Turn, TurnId};

use crate::dataset::Session;
use crate::embed::{TextKind, Vectors};
use crate::error::EvalError;
use crate::metric::tokens;
use crate::rank::{Bm25, K0, dense, fuse};

/// Turns of a window and of a chunk.
const WINDOW: usize = 3;
const CHUNK: usize = 6;

/// What is ranked as one piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Unit {
    /// One turn.
    Turn,
    /// Three neighbouring turns of a session, at every turn.
    Window,
    /// Six neighbouring turns of a session, without overlap: the size of a scene.
    Chunk,
    /// A session.
    Session,
}

impl Unit {
    /// All of them, from small to large.
    pub const ALL: [Self; 4] = [Self::Turn, Self::Window, Self::Chunk, Self::Session];

    /// Turns of `session`, piece by piece.
    fn pieces(self, session: &Session) -> Vec<&[Turn]> {
        let turns = session.turns.as_slice();
        match self {
            Self::Turn => turns.chunks(1).collect(),
            Self::Window if turns.len() > WINDOW => turns.windows(WINDOW).collect(),
            Self::Chunk => turns.chunks(CHUNK).collect(),
            Self::Window | Self::Session => vec![turns],
        }
    }
}

/// How the pieces are ranked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Ranker {
    /// BM25 alone.
    Bm25,
    /// Cosine alone.
    Dense,
    /// Reciprocal rank fusion of the two.
    Rrf,
}

impl Ranker {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Bm25, Self::Dense, Self::Rrf];
}

impl fmt::Display for Unit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Turn => "turn",
            Self::Window => "window",
            Self::Chunk => "chunk",
            Self::Session => "session",
        })
    }
}

impl fmt::Display for Ranker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Bm25 => "bm25",
            Self::Dense => "dense",
            Self::Rrf => "rrf",
        })
    }
}

/// A turn as the flat baselines read it.
#[must_use]
pub fn spoken(turn: &Turn) -> String {
    match &turn.image {
        Some(caption) => format!("{}: {} [shared image: {caption}]", turn.speaker, turn.text),
        None => format!("{}: {}", turn.speaker, turn.text),
    }
}

/// One piece: its turns and its text.
#[derive(Clone, Debug)]
struct Piece {
    turns: Vec<TurnId>,
    text: String,
}

/// The text of every piece of `unit`, to be embedded beforehand.
pub fn texts<'a>(unit: Unit, sessions: &'a [Session]) -> impl Iterator<Item = String> + 'a {
    sessions
        .iter()
        .flat_map(move |session| unit.pieces(session))
        .map(text)
}

fn text(turns: &[Turn]) -> String {
    turns.iter().map(spoken).collect::<Vec<_>>().join("\n")
}

/// A memory cut into pieces of one size, ready to be searched.
#[derive(Debug)]
pub struct Flat {
    pieces: Vec<Piece>,
    bm25: Bm25,
    vectors: Vec<Vector>,
}

impl Flat {
    /// Cuts `sessions`; `vectors` may be empty if only BM25 is asked.
    ///
    /// # Errors
    /// [`EvalError::NoVector`] if a piece was not embedded while others were.
    pub fn new(unit: Unit, sessions: &[Session], vectors: &Vectors) -> Result<Self, EvalError> {
        let pieces = sessions.iter().flat_map(|session| unit.pieces(session));
        let pieces: Vec<Piece> = pieces
            .filter(|turns| !turns.is_empty())
            .map(|turns| Piece {
                turns: turns.iter().map(|turn| turn.id.clone()).collect(),
                text: text(turns),
            })
            .collect();
        let vectors = match vectors.is_empty() {
            true => Vec::new(),
            false => pieces
                .iter()
                .filter_map(|piece| vectors.get(TextKind::Passage, &piece.text).transpose())
                .collect::<Result<_, _>>()?,
        };
        let bm25 = Bm25::new(pieces.iter().map(|piece| piece.text.as_str()));
        Ok(Self {
            pieces,
            bm25,
            vectors,
        })
    }

    /// How many pieces there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.pieces.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.pieces.is_empty()
    }

    /// Pieces as turns, best first. BM25 leaves out what shares no term with `query`.
    #[must_use]
    pub fn rank(&self, ranker: Ranker, query: &str, vector: Option<&Vector>) -> Vec<Vec<TurnId>> {
        let places = self.places(ranker, query, vector);
        places
            .into_iter()
            .map(|place| self.pieces[place].turns.clone())
            .collect()
    }

    fn places(&self, ranker: Ranker, query: &str, vector: Option<&Vector>) -> Vec<usize> {
        let lexical = || self.bm25.rank(query);
        let dense = || {
            let rows: Vec<&[f32]> = self.vectors.iter().map(Vector::as_slice).collect();
            vector.map_or_else(Vec::new, |vector| dense(vector.as_slice(), &rows))
        };
        match ranker {
            Ranker::Bm25 => lexical(),
            Ranker::Dense => dense(),
            Ranker::Rrf => fuse(&[lexical(), dense()], K0),
        }
    }
}

/// The turns of `ranking` that fit into `budget` tokens, in rank order, each once, up to the first
/// that does not fit; with their cost.
#[must_use]
pub fn fill<'a>(
    ranking: &[Vec<TurnId>],
    turn: impl Fn(&TurnId) -> Option<&'a Turn>,
    budget: f64,
) -> (BTreeSet<TurnId>, f64) {
    let (mut taken, mut cost) = (BTreeSet::new(), 0.0);
    for id in ranking.iter().flatten() {
        let Some(turn) = turn(id).filter(|_| !taken.contains(id)) else {
            continue;
        };
        let more = tokens(&spoken(turn));
        if cost + more > budget {
            break;
        }
        cost += more;
        taken.insert(id.clone());
    }
    (taken, cost)
}
