//! Stylesheet, script and icons. Their names have a hash of their contents, so that browsers cache
//! them permanently.

use std::sync::LazyLock;

use axum::{
    body::Bytes,
    http::header,
    response::{IntoResponse, Response},
};
use sha2::{Digest, Sha256};

use crate::kernel::{error::Error, http::SharedBody};

pub struct Asset {
    /// `/console/assets/style.0123abcd.css`
    pub path: String,
    kind: &'static str,
    content: SharedBody,
}

pub const FOLDER: &str = "/console/assets/";

pub static STYLE: LazyLock<Asset> = LazyLock::new(|| {
    Asset::new("style", "css", "text/css; charset=utf-8", include_str!("../../web/style.css"))
});

pub static SCRIPT: LazyLock<Asset> = LazyLock::new(|| {
    let text = concat!(
        include_str!("../../web/auto.js"),
        include_str!("../../web/live.js"),
        include_str!("../../web/wait.js")
    );
    Asset::new("console", "js", "text/javascript; charset=utf-8", text)
});

/// One stylesheet for the pier, so that a cold start needs one request less.
pub static PIER_STYLE: LazyLock<Asset> = LazyLock::new(|| {
    let text = concat!(include_str!("../../web/style.css"), include_str!("../../web/pier.css"));
    Asset::new("pier", "css", "text/css; charset=utf-8", text)
});

pub static SITE_STYLE: LazyLock<Asset> = LazyLock::new(|| {
    let text = concat!(include_str!("../../web/style.css"), include_str!("../../web/site.css"));
    Asset::new("site", "css", "text/css; charset=utf-8", text)
});

pub static PIER_SCRIPT: LazyLock<Asset> = LazyLock::new(|| {
    let text = concat!(include_str!("../../web/kept.js"), include_str!("../../web/pier.js"));
    Asset::new("pier", "js", "text/javascript; charset=utf-8", without_comments(text))
});

/// The sprite of all icons, and the icon of the site.
pub static ICONS: LazyLock<Asset> = LazyLock::new(|| {
    Asset::new("icons", "svg", "image/svg+xml", include_str!("../../web/icons.svg"))
});

impl Asset {
    fn new(name: &str, end: &str, kind: &'static str, plain: impl Into<Bytes>) -> Self {
        let plain: Bytes = plain.into();
        let hash = Sha256::digest(&plain);
        let hash: String = hash[..6].iter().map(|byte| format!("{byte:02x}")).collect();
        let path = format!("{FOLDER}{name}.{hash}.{end}");
        Self { path, kind, content: SharedBody::constant(plain) }
    }
}

/// Without lines of comments, and without indentation. Lines that have no strings and no regular
/// expressions also lose the spaces around operators.
fn without_comments(script: &str) -> String {
    let lines = script.lines().map(str::trim_start);
    let lines = lines.filter(|line| !line.is_empty() && !line.starts_with("//"));
    let lines = lines.map(|line| match line.contains(['"', '\'', '`', '/']) {
        true => line.to_owned(),
        false => OPERATORS
            .iter()
            .fold(line.to_owned(), |line, operator| line.replace(operator, operator.trim())),
    });
    lines.collect::<Vec<_>>().join("\n")
}

const OPERATORS: &[&str] = &[" => ", " = ", " && ", " || ", ", ", "; ", "{ ", " }"];

/// The asset with this name, or 404.
pub fn serve(name: &str, accepts_gzip: bool) -> Response {
    let all = [&STYLE, &SCRIPT, &PIER_STYLE, &PIER_SCRIPT, &SITE_STYLE, &ICONS];
    let Some(asset) = all.into_iter().find(|asset| asset.path.strip_prefix(FOLDER) == Some(name))
    else {
        return Error::NotFound.into_response();
    };
    let fixed = [
        (header::CONTENT_TYPE, asset.kind),
        (header::CACHE_CONTROL, "public, max-age=31536000, immutable"),
        (header::VARY, "Accept-Encoding"),
    ];
    let mut response = fixed.into_response();
    asset.content.put_into(&mut response, accepts_gzip);
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts_and_styles_are_small() {
        let limits =
            [(&STYLE, 40), (&SCRIPT, 6), (&PIER_STYLE, 40), (&PIER_SCRIPT, 16), (&SITE_STYLE, 40)];
        for (asset, limit) in limits {
            let size = asset.content.plain().len();
            assert!(size <= limit * 1024, "{}: {size}", asset.path);
        }
    }
}
