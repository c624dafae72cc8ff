//! Networks in CIDR notation.

use std::{
    fmt,
    net::{IpAddr, Ipv4Addr, Ipv6Addr},
    str::FromStr,
};

use serde::{Serialize, Serializer};

/// A network, or a single address, without host bits: `203.0.113.0/24`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Network {
    address: IpAddr,
    bits: u8,
}

impl Network {
    fn new(address: IpAddr, bits: u8) -> Option<Self> {
        let (address, bits) = match (address, address.to_canonical()) {
            // An IPv4 address that is written as an IPv6 address.
            (IpAddr::V6(_), v4 @ IpAddr::V4(_)) if bits >= 96 => (v4, bits - 96),
            _ => (address, bits),
        };
        let address = match address {
            IpAddr::V4(v4) if bits <= 32 => {
                let mask = u32::MAX.checked_shl(32 - u32::from(bits)).unwrap_or(0);
                Ipv4Addr::from_bits(v4.to_bits() & mask).into()
            }
            IpAddr::V6(v6) if bits <= 128 => {
                let mask = u128::MAX.checked_shl(128 - u32::from(bits)).unwrap_or(0);
                Ipv6Addr::from_bits(v6.to_bits() & mask).into()
            }
            _ => return None,
        };
        Some(Self { address, bits })
    }
}

impl FromStr for Network {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let (address, bits) = match text.trim().split_once('/') {
            Some((address, bits)) => (address, Some(bits)),
            None => (text.trim(), None),
        };
        let address: IpAddr = address.parse().map_err(drop)?;
        let bits = match bits {
            // `parse` accepts a sign.
            Some(bits) if bits.bytes().all(|byte| byte.is_ascii_digit()) => {
                bits.parse().map_err(drop)?
            }
            Some(_) => return Err(()),
            None if address.is_ipv4() => 32,
            None => 128,
        };
        Self::new(address, bits).ok_or(())
    }
}

impl fmt::Display for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.address, self.bits)
    }
}

impl Serialize for Network {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_network_is_written_in_one_way() {
        let written = |text: &str| text.parse::<Network>().map(|network| network.to_string());
        for (text, network) in [
            ("203.0.113.7", "203.0.113.7/32"),
            (" 203.0.113.7/24", "203.0.113.0/24"),
            ("0.0.0.0/0", "0.0.0.0/0"),
            ("2001:DB8::1", "2001:db8::1/128"),
            ("2001:db8:1:2::9/64", "2001:db8:1:2::/64"),
            ("::/0", "::/0"),
            ("::ffff:203.0.113.7", "203.0.113.7/32"),
            ("::ffff:203.0.113.7/120", "203.0.113.0/24"),
        ] {
            assert_eq!(written(text).as_deref(), Ok(network), "{text}");
        }
        for bad in ["", "203.0.113", "203.0.113.7/33", "::/129", "1.2.3.4/", "1.2.3.4/+8", "a/8"] {
            assert!(written(bad).is_err(), "{bad}");
        }
    }
}
