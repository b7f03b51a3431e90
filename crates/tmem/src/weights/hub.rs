//! Downloads from the model hub, going on where an earlier attempt broke off.

use std::{
    fs::{File, OpenOptions},
    io::Write,
    path::Path,
    time::Duration,
};

use reqwest::{Client, Response, StatusCode, header::RANGE};

use super::{
    Location, Phase, PinnedFile, Report, WeightsError,
    files::{Folder, progress, size},
};

/// A hub that cannot be reached is noticed soon, since there is another way.
const CONNECT: Duration = Duration::from_secs(5);
/// Longest silence within a download.
const SILENCE: Duration = Duration::from_secs(30);
/// How often a broken download is taken up again.
const ATTEMPTS: usize = 4;

/// Brings the part of `file` to its full size.
pub(super) async fn download(
    hub: &str,
    folder: &Folder,
    file: &PinnedFile,
    report: Report<'_>,
) -> Result<(), WeightsError> {
    let client = Client::builder()
        .connect_timeout(CONNECT)
        .read_timeout(SILENCE);
    let failed = |error: &reqwest::Error| WeightsError::unreachable(&file.name, cause(error));
    let client = client.build().map_err(|error| failed(&error))?;
    let url = url(hub, file);
    let part = folder.part(file);
    let mut last = String::new();
    for _ in 0..ATTEMPTS {
        let response = match request(&client, &url, have(&part, file)).await {
            Ok(response) => response,
            Err(error) if error.is_connect() => return Err(failed(&error)),
            Err(error) => {
                last = cause(&error);
                continue;
            }
        };
        let output = output(&part, file, &response)?;
        last = match receive(response, output, &part, file, report).await? {
            None => return Ok(()),
            Some(broken_off) => broken_off,
        };
    }
    Err(WeightsError::unreachable(&file.name, last))
}

fn url(hub: &str, file: &PinnedFile) -> String {
    match &file.location {
        Location::Hub {
            repo,
            revision,
            path,
        } => format!("{hub}/{repo}/resolve/{revision}/{path}"),
        Location::Wheels(_) => hub.to_owned(),
    }
}

/// Bytes that need not be asked for again.
fn have(part: &Path, file: &PinnedFile) -> u64 {
    size(part).filter(|bytes| *bytes < file.bytes).unwrap_or(0)
}

async fn request(client: &Client, url: &str, from: u64) -> reqwest::Result<Response> {
    let request = client.get(url);
    match from {
        0 => request.send().await,
        _ => request.header(RANGE, format!("bytes={from}-")).send().await,
    }
}

/// The part, at its end if the hub goes on there, else empty.
fn output(part: &Path, file: &PinnedFile, response: &Response) -> Result<File, WeightsError> {
    let mut options = OpenOptions::new();
    match response.status() {
        StatusCode::PARTIAL_CONTENT => options.append(true),
        StatusCode::OK => options.write(true).create(true).truncate(true),
        status => {
            let reason = format!("the hub answers {status}");
            return Err(WeightsError::unreachable(&file.name, reason));
        }
    };
    options.open(part).map_err(WeightsError::disk(part))
}

/// Writes what arrives; says what happened if the stream ends too soon.
async fn receive(
    mut response: Response,
    mut output: File,
    part: &Path,
    file: &PinnedFile,
    report: Report<'_>,
) -> Result<Option<String>, WeightsError> {
    let mut done = size(part).unwrap_or(0);
    loop {
        let chunk = match response.chunk().await {
            Ok(Some(chunk)) => chunk,
            Ok(None) if done == file.bytes => return Ok(None),
            Ok(None) => return Ok(Some(format!("{done} of {} bytes came", file.bytes))),
            Err(error) => return Ok(Some(cause(&error))),
        };
        output.write_all(&chunk).map_err(WeightsError::disk(part))?;
        done += chunk.len() as u64;
        report(progress(file, Phase::Downloading, done));
        if done > file.bytes {
            // Not the pinned file. The checksum will say so.
            return Ok(None);
        }
    }
}

/// The innermost cause: the layers around it only say that a request failed.
fn cause(error: &dyn std::error::Error) -> String {
    let mut innermost = error;
    while let Some(cause) = innermost.source() {
        innermost = cause;
    }
    innermost.to_string()
}
