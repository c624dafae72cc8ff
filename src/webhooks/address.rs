//! Distinguishes public addresses from private and special ones.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use reqwest::dns::{Addrs, Name, Resolve, Resolving};

/// Whether the address is globally reachable.
pub fn is_public(address: IpAddr) -> bool {
    match address.to_canonical() {
        IpAddr::V4(v4) => v4_is_public(v4),
        IpAddr::V6(v6) => v6_is_public(v6),
    }
}

fn v4_is_public(v4: Ipv4Addr) -> bool {
    let [a, b, c, _] = v4.octets();
    !(v4.is_private()
        || v4.is_loopback()
        || v4.is_link_local()
        || v4.is_multicast()
        || v4.is_documentation()
        || a == 0
        || a >= 240
        || (a == 100 && (64..128).contains(&b))
        || (a == 192 && b == 0 && c == 0)
        || (a == 192 && b == 88 && c == 99)
        || (a == 198 && (18..20).contains(&b)))
}

fn v6_is_public(v6: Ipv6Addr) -> bool {
    let [a, b, c, d, e, f, g, h] = v6.segments();
    let inside = |high: u16, low: u16| {
        let [w, x] = high.to_be_bytes();
        let [y, z] = low.to_be_bytes();
        v4_is_public(Ipv4Addr::new(w, x, y, z))
    };
    match (a, b) {
        // IPv4 addresses embedded in IPv6.
        (0x64, 0xff9b) => [c, d, e, f] == [0; 4] && inside(g, h),
        (0x2002, _) => inside(b, c),
        // Teredo, benchmarking, ORCHID, documentation.
        (0x2001, 0 | 2 | 0xdb8) => false,
        (0x2001, 0x10..=0x2f) => false,
        (0x3fff, 0..=0x0fff) => false,
        // Global unicast.
        _ => a & 0xe000 == 0x2000,
    }
}

/// Resolves names and keeps the addresses that may be connected to. The connection uses one of
/// these, so that a name that resolves to another address afterwards has no effect.
pub struct PublicResolver {
    pub private_too: bool,
}

impl Resolve for PublicResolver {
    fn resolve(&self, name: Name) -> Resolving {
        let private_too = self.private_too;
        Box::pin(async move {
            let found = tokio::net::lookup_host((name.as_str(), 0)).await?;
            let allowed = allowed_addresses(found, private_too)?;
            Ok(Box::new(allowed.into_iter()) as Addrs)
        })
    }
}

/// The addresses of a name that may be connected to.
fn allowed_addresses(
    found: impl Iterator<Item = SocketAddr>,
    private_too: bool,
) -> Result<Vec<SocketAddr>, &'static str> {
    let allowed: Vec<_> = found.filter(|address| private_too || is_public(address.ip())).collect();
    match allowed.is_empty() {
        true => Err("its name does not resolve to a public address"),
        false => Ok(allowed),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// DNS rebinding: the same name resolves to different addresses.
    #[test]
    fn a_name_never_leads_inside_whatever_it_means_at_that_moment() {
        let meant = |addresses: &[&str]| {
            let found: Vec<SocketAddr> =
                addresses.iter().map(|address| address.parse().unwrap()).collect();
            allowed_addresses(found.into_iter(), false).map(|kept| kept.len())
        };
        assert_eq!(meant(&["8.8.8.8:0"]), Ok(1));
        assert_eq!(meant(&["127.0.0.1:0", "8.8.8.8:0", "[::1]:0"]), Ok(1));
        assert!(meant(&["127.0.0.1:0"]).is_err());
        assert!(meant(&["[::ffff:10.0.0.1]:0"]).is_err());
        assert!(meant(&[]).is_err());
    }

    #[test]
    fn only_addresses_of_the_world_are_public() {
        for private in [
            "127.0.0.1",
            "10.1.2.3",
            "172.16.0.1",
            "192.168.1.1",
            "169.254.169.254",
            "100.64.0.1",
            "0.0.0.0",
            "198.18.0.1",
            "224.0.0.1",
            "255.255.255.255",
            "192.0.2.1",
            "::",
            "::1",
            "::ffff:127.0.0.1",
            "::ffff:10.0.0.1",
            "::7f00:1",
            "fe80::1",
            "fc00::1",
            "fd12:3456::1",
            "ff02::1",
            "fec0::1",
            "2001:db8::1",
            "2001::1",
            "64:ff9b::7f00:1",
            "64:ff9b:1::1",
            "2002:7f00:1::",
            "2002:a00:1::",
        ] {
            assert!(!is_public(private.parse().unwrap()), "{private}");
        }
        for public in
            ["8.8.8.8", "103.10.10.10", "2606:4700::1111", "::ffff:8.8.8.8", "64:ff9b::808:808"]
        {
            assert!(is_public(public.parse().unwrap()), "{public}");
        }
    }
}
