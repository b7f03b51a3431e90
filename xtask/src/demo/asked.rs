//! The questions of the demo.

/// A line each. The last one shares no word with the turns that answer it.
const QUESTIONS: &str = include_str!("../../../fixtures/demo/questions.txt");

/// A question, `[2026-05-01] Mara: Where is the workshop?`, with or without date and speaker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Asked {
    /// As of when.
    pub(crate) at: Option<&'static str>,
    /// Who asks.
    pub(crate) speaker: Option<&'static str>,
    /// Its words.
    pub(crate) text: &'static str,
}

impl Asked {
    /// All of them, in order.
    pub(crate) fn all() -> Vec<Self> {
        QUESTIONS.lines().map(Self::parse).collect()
    }

    fn parse(line: &'static str) -> Self {
        let dated = line
            .strip_prefix('[')
            .and_then(|rest| rest.split_once("] "));
        let (at, rest) = dated.map_or((None, line), |(at, rest)| (Some(at), rest));
        let spoken = rest.split_once(": ");
        let (speaker, text) = spoken.map_or((None, rest), |(name, text)| (Some(name), text));
        Self { at, speaker, text }
    }

    /// As `tmem ask` takes it.
    pub(crate) fn args(&self) -> Vec<&'static str> {
        let mut args = vec![self.text];
        args.extend(self.at.iter().flat_map(|at| ["--at", *at]));
        args.extend(self.speaker.iter().flat_map(|name| ["--speaker", *name]));
        args
    }
}

#[cfg(test)]
mod tests {
    use super::Asked;

    #[test]
    fn date_and_speaker_may_be_left_out() {
        let asked = |line| Asked::parse(line).args();
        assert_eq!(asked("Where is it?"), ["Where is it?"]);
        assert_eq!(
            asked("[2026-05-01] Mara: Where?"),
            ["Where?", "--at", "2026-05-01", "--speaker", "Mara"]
        );
    }
}
