//! What describes an artefact: names, licence, sources, sizes, checksums.

/// Something that is fetched by name.
#[derive(Clone, Debug)]
pub struct Artefact {
    /// Its name, which is also its folder.
    pub name: &'static str,
    /// What it is, in a line.
    pub about: &'static str,
    /// Its licence, as its publisher states it.
    pub licence: &'static str,
    /// Where it may come from, in the order of preference.
    pub sources: Vec<Source>,
}

/// One place that has all files of an artefact.
#[derive(Clone, Debug)]
pub struct Source {
    /// The files. Another source may have other files for the same end.
    pub files: Vec<PinnedFile>,
    /// What the user should know about the place.
    pub remark: Option<&'static str>,
}

/// A file and what it must be.
#[derive(Clone, Debug)]
pub struct PinnedFile {
    /// Its name on disk.
    pub name: String,
    /// Its size.
    pub bytes: u64,
    /// Its checksum in hexadecimal digits.
    pub sha256: String,
    /// Where it is.
    pub location: Location,
}

/// Where a file is.
#[derive(Clone, Debug)]
pub enum Location {
    /// On the model hub.
    Hub {
        /// Owner and repository.
        repo: &'static str,
        /// The commit.
        revision: &'static str,
        /// Path in the repository.
        path: &'static str,
    },
    /// In Python wheels, cut into these parts.
    Wheels(Vec<Member>),
}

/// A file within a wheel.
#[derive(Clone, Debug)]
pub struct Member {
    /// The package with its version, as pip takes it.
    pub requirement: String,
    /// The platform tag, if wheels differ by platform.
    pub platform: Option<&'static str>,
    /// Path in the wheel.
    pub path: String,
}

impl Source {
    /// The place, in a few words.
    pub fn place(&self) -> String {
        match self.files.first().map(|file| &file.location) {
            Some(Location::Hub { repo, .. }) => format!("model hub, {repo}"),
            Some(Location::Wheels(members)) => {
                let first = members.first().map_or("", |member| &member.requirement);
                let more = self.members() - 1;
                let more = if more > 0 {
                    format!(" and {more} more")
                } else {
                    String::new()
                };
                format!("Python package {first}{more}")
            }
            None => "nowhere".to_owned(),
        }
    }

    /// What is said before it is asked.
    pub(super) fn announcement(&self, name: &str) -> String {
        let size = self.files.iter().map(|file| file.bytes).sum::<u64>() / 1_000_000;
        let remark = self
            .remark
            .map_or(String::new(), |remark| format!(" ({remark})"));
        format!("{name}, {size} MB, from: {}{remark}", self.place())
    }

    fn members(&self) -> usize {
        let of = |file: &PinnedFile| match &file.location {
            Location::Hub { .. } => 1,
            Location::Wheels(members) => members.len(),
        };
        self.files.iter().map(of).sum()
    }
}
