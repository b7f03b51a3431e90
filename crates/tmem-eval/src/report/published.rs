//! Published figures, as data with their sources. None of them was re-run here.

/// One row of a published table; percentages.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Published {
    /// The system.
    pub system: &'static str,
    /// LoCoMo, overall (categories 1 to 4).
    pub locomo: Option<f64>,
    /// LoCoMo by category 1 to 4: multi-hop, temporal, open-domain, single-hop.
    pub by_category: [Option<f64>; 4],
    /// Token F1 on LoCoMo.
    pub f1: Option<f64>,
    /// LoCoMo-Plus.
    pub plus: Option<f64>,
    /// Where it stands and how it was made.
    pub source: &'static str,
}

const T_MEM: &str = "arXiv 2606.15405, tables 2 and 3: GPT-4o-mini answers (six words at most) and \
    judges on LoCoMo, GPT-4o answers and Gemini-2.5-Flash judges on LoCoMo-Plus";
const HYPERMEM: &str = "arXiv 2606.15405, appendix E and table 3: HyperMem re-run by its authors \
    under the official LoCoMo protocol";
const COT: &str = "arXiv 2606.15405, table 2 and appendix E: seven-step answers by GPT-4.1-mini; \
    not comparable with rows of the short protocol";
const MEMOS: &str =
    "arXiv 2606.15405, tables 2 and 3; the LoCoMo figures are those of arXiv 2507.03724";
const WHOLE: &str = "arXiv 2606.15405, table 3, figures of the LoCoMo-Plus paper: the whole dialogue \
    as context";

/// What the literature prints, best on LoCoMo-Plus first.
pub const PUBLISHED: [Published; 7] = [
    Published {
        system: "T-Mem",
        locomo: Some(80.26),
        by_category: [Some(69.15), Some(82.55), Some(55.21), Some(85.97)],
        f1: Some(51.96),
        plus: Some(74.81),
        source: T_MEM,
    },
    Published {
        system: "HyperMem",
        locomo: Some(77.01),
        plus: Some(48.63),
        source: HYPERMEM,
        ..NONE
    },
    Published {
        system: "MemOS",
        locomo: Some(75.80),
        by_category: [None, None, Some(55.90), None],
        plus: Some(32.67),
        source: MEMOS,
        ..NONE
    },
    Published {
        system: "Gemini-2.5-Pro, whole dialogue",
        plus: Some(26.06),
        source: WHOLE,
        ..NONE
    },
    Published {
        system: "GPT-4o, whole dialogue",
        plus: Some(21.05),
        source: WHOLE,
        ..NONE
    },
    Published {
        system: "T-Mem, seven-step answers",
        locomo: Some(93.70),
        source: COT,
        ..NONE
    },
    Published {
        system: "HyperMem, seven-step answers",
        locomo: Some(92.73),
        source: COT,
        ..NONE
    },
];

const NONE: Published = Published {
    system: "",
    locomo: None,
    by_category: [None; 4],
    f1: None,
    plus: None,
    source: "",
};

/// Published ablations: switch, change on LoCoMo and on LoCoMo-Plus in points of judged accuracy.
pub const ABLATIONS: [(&str, f64, f64); 8] = [
    ("SL", -4.74, -2.99),
    ("IC", -2.86, -0.50),
    ("ET+BT", -1.43, -0.25),
    ("PS", -1.54, -0.99),
    ("TF", -1.43, -2.24),
    ("ST", -0.34, -4.74),
    ("HT", -0.08, -12.47),
    ("ST+HT", -0.40, -22.19),
];

/// Where [`ABLATIONS`] stands.
pub const ABLATIONS_SOURCE: &str = "arXiv 2606.15405, table 4";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_figure_names_its_source_and_is_a_percentage() {
        for row in PUBLISHED {
            assert!(row.source.contains("arXiv"), "{}", row.system);
            let all = [row.locomo, row.f1, row.plus]
                .into_iter()
                .chain(row.by_category);
            assert!(
                all.flatten().all(|value| (0.0..=100.0).contains(&value)),
                "{}",
                row.system
            );
        }
    }

    #[test]
    fn the_gap_is_the_published_one() {
        let gap = |row: Published| row.locomo.zip(row.plus).map(|(a, b)| a - b);
        assert!((gap(PUBLISHED[0]).expect("both") - 5.45).abs() < 1e-9);
        assert!((gap(PUBLISHED[1]).expect("both") - 28.38).abs() < 1e-9);
    }
}
