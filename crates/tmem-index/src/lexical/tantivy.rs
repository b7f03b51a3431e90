//! [`TantivyIndex`]: tantivy in memory, fed with terms, asked with terms.
//!
//! The only file that names tantivy. Its query language and analysers are not used, so a query
//! cannot fail or mean something else. After a commit that removed documents all segments are merged
//! into one: tantivy counts such documents in its statistics until a merge. What only adds does not.

use tantivy::collector::{Collector, SegmentCollector};
use tantivy::columnar::Column;
use tantivy::indexer::NoMergePolicy;
use tantivy::query::{BooleanQuery, Occur, Query, TermQuery};
use tantivy::schema::{
    FAST, Field, INDEXED, IndexRecordOption, Schema, TextFieldIndexing, TextOptions,
};
use tantivy::tokenizer::{PreTokenizedString, Token};
use tantivy::{
    DocId, Index, IndexReader, IndexWriter, ReloadPolicy, Score, SegmentOrdinal, SegmentReader,
    TantivyDocument, TantivyError, Term,
};

use super::{LexicalDocument, LexicalIndex, distinct};
use crate::IndexError;
use crate::key::{Hit, Key, KeySet, best, passes};

/// The least that tantivy lets a writer have (bytes).
const WRITER_MEMORY: usize = 15_000_000;

/// Segments that a search looks through before they are merged.
const SEGMENTS: usize = 8;

/// One corpus in a RAM directory.
pub struct TantivyIndex {
    index: Index,
    reader: IndexReader,
    key: Field,
    words: Field,
}

impl std::fmt::Debug for TantivyIndex {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TantivyIndex")
            .field("documents", &self.len())
            .finish()
    }
}

impl TantivyIndex {
    /// An empty index.
    ///
    /// # Errors
    /// [`IndexError::Lexical`] if tantivy does not start.
    pub fn new() -> Result<Self, IndexError> {
        let indexing = TextFieldIndexing::default()
            .set_tokenizer("raw")
            .set_index_option(IndexRecordOption::WithFreqs)
            .set_fieldnorms(true);
        let mut schema = Schema::builder();
        let key = schema.add_u64_field("key", INDEXED | FAST);
        let text = TextOptions::default().set_indexing_options(indexing);
        let words = schema.add_text_field("words", text);
        let index = Index::builder()
            .schema(schema.build())
            .create_in_ram()
            .map_err(failed)?;
        let reader = index.reader_builder().reload_policy(ReloadPolicy::Manual);
        let reader = reader.try_into().map_err(failed)?;
        Ok(Self {
            index,
            reader,
            key,
            words,
        })
    }

    fn key_term(&self, key: Key) -> Term {
        Term::from_field_u64(self.key, u64::from(key))
    }

    /// One commit, merged where documents were removed or segments are many.
    fn commit(
        &self,
        write: impl FnOnce(&IndexWriter) -> Result<(), TantivyError>,
    ) -> Result<(), TantivyError> {
        let mut writer = self.index.writer_with_num_threads(1, WRITER_MEMORY)?;
        writer.set_merge_policy(Box::new(NoMergePolicy));
        write(&writer)?;
        writer.commit()?;
        let segments = self.index.searchable_segments()?;
        let removed = segments.iter().any(|segment| segment.meta().has_deletes());
        if removed || segments.len() > SEGMENTS {
            let ids: Vec<_> = segments.iter().map(tantivy::Segment::id).collect();
            writer.merge(&ids).wait()?;
        }
        writer.wait_merging_threads()?;
        self.reader.reload()
    }

    fn document(&self, document: LexicalDocument) -> TantivyDocument {
        let token = |(position, text)| Token {
            position,
            text,
            ..Token::default()
        };
        let tokens = document.terms.into_iter().enumerate().map(token).collect();
        let mut stored = TantivyDocument::new();
        stored.add_u64(self.key, u64::from(document.key));
        stored.add_pre_tokenized_text(
            self.words,
            PreTokenizedString {
                text: String::new(),
                tokens,
            },
        );
        stored
    }

    fn query(&self, terms: &[String]) -> BooleanQuery {
        let clause = |term: &str| {
            let term = Term::from_field_text(self.words, term);
            let query: Box<dyn Query> =
                Box::new(TermQuery::new(term, IndexRecordOption::WithFreqs));
            (Occur::Should, query)
        };
        BooleanQuery::new(distinct(terms).into_iter().map(clause).collect())
    }
}

impl LexicalIndex for TantivyIndex {
    fn upsert(&mut self, documents: Vec<LexicalDocument>) -> Result<(), IndexError> {
        let write = |writer: &IndexWriter| {
            for document in documents {
                writer.delete_term(self.key_term(document.key));
                writer.add_document(self.document(document))?;
            }
            Ok(())
        };
        self.commit(write).map_err(failed)
    }

    fn remove(&mut self, keys: &[Key]) -> Result<(), IndexError> {
        let write = |writer: &IndexWriter| {
            keys.iter().for_each(|&key| {
                writer.delete_term(self.key_term(key));
            });
            Ok(())
        };
        self.commit(write).map_err(failed)
    }

    fn len(&self) -> usize {
        self.reader.searcher().num_docs() as usize
    }

    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn search(
        &self,
        terms: &[String],
        k: usize,
        allowed: Option<&KeySet>,
    ) -> Result<Vec<Hit>, IndexError> {
        let hits = self
            .reader
            .searcher()
            .search(&self.query(terms), &Matches { allowed });
        Ok(best(hits.map_err(failed)?, k))
    }
}

fn failed(error: TantivyError) -> IndexError {
    IndexError::Lexical {
        message: error.to_string(),
    }
}

/// Collects every match that is allowed, so that the order of ties is ours.
struct Matches<'a> {
    allowed: Option<&'a KeySet>,
}

impl Collector for Matches<'_> {
    type Fruit = Vec<Hit>;
    type Child = SegmentMatches;

    fn for_segment(
        &self,
        _: SegmentOrdinal,
        segment: &SegmentReader,
    ) -> tantivy::Result<SegmentMatches> {
        let keys = segment.fast_fields().u64("key")?;
        Ok(SegmentMatches {
            allowed: self.allowed.cloned(),
            keys,
            hits: Vec::new(),
        })
    }

    fn requires_scoring(&self) -> bool {
        true
    }

    fn merge_fruits(&self, segments: Vec<Vec<Hit>>) -> tantivy::Result<Vec<Hit>> {
        Ok(segments.concat())
    }
}

struct SegmentMatches {
    allowed: Option<KeySet>,
    keys: Column<u64>,
    hits: Vec<Hit>,
}

impl SegmentCollector for SegmentMatches {
    type Fruit = Vec<Hit>;

    fn collect(&mut self, doc: DocId, score: Score) {
        let key = self.keys.first(doc).and_then(|key| Key::try_from(key).ok());
        let key = key.filter(|&key| passes(self.allowed.as_ref(), key));
        self.hits.extend(key.map(|key| Hit { key, score }));
    }

    fn harvest(self) -> Vec<Hit> {
        self.hits
    }
}
