//! The context of a request: its id, language, client address and user agent, and whether it takes
//! compressed answers.

use std::net::{IpAddr, SocketAddr};

use axum::{
    extract::Request,
    http::{
        HeaderMap, HeaderValue,
        header::{ACCEPT_LANGUAGE, USER_AGENT},
    },
};

use crate::kernel::{
    caller::Context,
    http::{REQUEST_ID, accepts_gzip},
    ids,
    lang::Lang,
};

/// A caller may choose the id. It is logged, so its length and characters are restricted.
pub fn context(trusted_hops: u8, peer: Option<SocketAddr>, request: &Request) -> Context {
    let headers = request.headers();
    let text = |name| headers.get(name).and_then(|value: &HeaderValue| value.to_str().ok());
    let sane = |id: &&str| {
        (1..=128).contains(&id.len())
            && id.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_.".contains(&b))
    };
    Context {
        request_id: match text(REQUEST_ID).filter(sane) {
            Some(id) => id.to_owned(),
            None => ids::fresh().to_string(),
        },
        lang: text(ACCEPT_LANGUAGE).map_or(Lang::En, Lang::from_header),
        address: address(peer.map(|peer| peer.ip()), trusted_hops, headers),
        user_agent: text(USER_AGENT).map(|agent| agent.chars().take(300).collect()),
        accepts_gzip: accepts_gzip(headers),
        is_page: false,
    }
}

/// With n trusted proxies in front, the outermost of them has written the n-th entry of
/// X-Forwarded-For from the right. Entries to the left of it can be forged.
fn address(peer: Option<IpAddr>, hops: u8, headers: &HeaderMap) -> IpAddr {
    let peer = peer.unwrap_or(IpAddr::from([0, 0, 0, 0])).to_canonical();
    let Some(skip) = usize::from(hops).checked_sub(1) else { return peer };
    let entries: Vec<_> = headers
        .get_all("x-forwarded-for")
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .collect();
    let entry =
        entries.iter().rev().nth(skip).and_then(|entry| entry.trim().parse::<IpAddr>().ok());
    entry.map_or(peer, |address| address.to_canonical())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(hops: u8, forwarded: &[&str]) -> String {
        let mut headers = HeaderMap::new();
        for value in forwarded {
            headers.append("x-forwarded-for", value.parse().unwrap());
        }
        address(Some([10, 0, 0, 9].into()), hops, &headers).to_string()
    }

    #[test]
    fn only_trusted_hops_name_the_client() {
        assert_eq!(seen(0, &["1.1.1.1"]), "10.0.0.9");
        assert_eq!(seen(1, &["6.6.6.6, 1.1.1.1"]), "1.1.1.1");
        assert_eq!(seen(2, &["6.6.6.6, 1.1.1.1, 2.2.2.2"]), "1.1.1.1");
        assert_eq!(seen(2, &["6.6.6.6", "1.1.1.1", "2.2.2.2"]), "1.1.1.1");
        assert_eq!(seen(2, &["1.1.1.1"]), "10.0.0.9");
        assert_eq!(seen(1, &["rubbish"]), "10.0.0.9");
        assert_eq!(seen(1, &["::ffff:1.1.1.1"]), "1.1.1.1");
    }
}
