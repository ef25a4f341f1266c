//! Which other servers may be asked: allowed origins, and no private addresses.

use core::net::{Ipv4Addr, Ipv6Addr};

/// What a host program lets a catalog do.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Allow {
    /// Whether origins may be private, loopback or link-local addresses, or `localhost`: for tests.
    pub private_origins: bool,
}

/// A server that files may lie on: scheme, host and port (RFC 6454 §4).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Origin {
    /// Whether it is https, and not http.
    secure: bool,
    /// The host in small letters; an IPv6 address in brackets, as short as it can be.
    host: String,
    port: u16,
}

impl Origin {
    /// Reads an origin such as `https://archive.example.org` or `http://mirror.example.org:8080`.
    ///
    /// A host is a plain name, four decimal numbers, or an IPv6 address in brackets. Whatever else a browser would make
    /// an address of (`0x7f.1`, `017700000001`, `2130706433`) is refused, as are user names, percent signs and a dot at
    /// the end.
    ///
    /// # Errors
    /// What is wrong, as the end of a sentence.
    pub fn parse(text: &str, allow: Allow) -> Result<Self, String> {
        let (origin, rest) = Self::split(text)?;
        if !rest.is_empty() {
            return Err(format!(
                "an origin ends after its host and port; leave out {rest:?}"
            ));
        }
        if !allow.private_origins && origin.is_private() {
            return Err(
                "a private, loopback or link-local address, or a name of this machine, is not asked"
                    .to_owned(),
            );
        }
        Ok(origin)
    }

    /// Takes an absolute URL apart: its origin, and what follows.
    pub(super) fn split(url: &str) -> Result<(Self, &str), String> {
        let secure = match url.split_once("://") {
            Some(("https", _)) => true,
            Some(("http", _)) => false,
            _ => return Err("it begins with neither https:// nor http://".to_owned()),
        };
        let rest = &url[if secure { 8 } else { 7 }..];
        let graphic = |byte: u8| byte.is_ascii_graphic() && !b"\\\"<>^`{|}".contains(&byte);
        if !rest.bytes().all(graphic) {
            return Err(
                "it holds blanks, backslashes or other characters that have to be percent-encoded"
                    .to_owned(),
            );
        }
        let (authority, path) = rest.split_at(rest.find(['/', '?', '#']).unwrap_or(rest.len()));
        if authority.contains('@') {
            return Err("a user name in an address is refused".to_owned());
        }
        let ipv6_end = authority.find(']').map_or(0, |at| at + 1);
        let (host, port) = match authority[ipv6_end..].split_once(':') {
            Some((host, port)) => (&authority[..ipv6_end + host.len()], Some(port)),
            None => (authority, None),
        };
        let port = match port {
            None if secure => 443,
            None => 80,
            Some(port) => number::<u16>(port)
                .filter(|port| *port > 0)
                .ok_or_else(|| format!("{port:?} is no port"))?,
        };
        let host = self::host(host)?;
        Ok((Self { secure, host, port }, path))
    }

    /// Whether it is on this machine or on a network of its own: RFC 6890 and the addresses that stand for others.
    #[must_use]
    pub fn is_private(&self) -> bool {
        if let Some(inner) = self.host.strip_prefix('[') {
            let address: Option<Ipv6Addr> = inner.trim_end_matches(']').parse().ok();
            return address.is_none_or(private6);
        }
        if let Some(address) = dotted(&self.host) {
            return private4(address);
        }
        let last = self.host.rsplit('.').next().unwrap_or("");
        ["localhost", "local", "internal", "localdomain"].contains(&last)
            || self.host == "ip6-localhost"
            || self.host == "ip6-loopback"
    }
}

impl core::fmt::Display for Origin {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let (scheme, usual) = if self.secure {
            ("https", 443)
        } else {
            ("http", 80)
        };
        write!(f, "{scheme}://{}", self.host)?;
        if self.port == usual {
            return Ok(());
        }
        write!(f, ":{}", self.port)
    }
}

/// The host in its one spelling.
fn host(text: &str) -> Result<String, String> {
    if let Some(inner) = text.strip_prefix('[') {
        let address: Option<Ipv6Addr> =
            inner.strip_suffix(']').and_then(|inner| inner.parse().ok());
        let address = address.ok_or_else(|| format!("{text:?} is no IPv6 address"))?;
        return Ok(format!("[{address}]"));
    }
    let host = text.to_ascii_lowercase();
    if dotted(&host).is_some() {
        return Ok(host);
    }
    let label = |label: &str| {
        let legal = |byte: u8| byte.is_ascii_alphanumeric() || b"-_".contains(&byte);
        (1..=63).contains(&label.len()) && label.bytes().all(legal) && !label.starts_with('-')
    };
    if host.len() > 253 || !host.split('.').all(label) {
        return Err(format!(
            "{text:?} is no plain host name; write letters, digits, hyphens and dots"
        ));
    }
    // A browser makes an address of whatever ends in a number (WHATWG URL §3.5), in octal and hexadecimal too.
    let last = host.rsplit('.').next().unwrap_or("");
    let hexadecimal = last
        .strip_prefix("0x")
        .is_some_and(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit()));
    if hexadecimal || last.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(format!(
            "{text:?} is an address, but not four decimal numbers without zeros in front"
        ));
    }
    Ok(host)
}

/// Four decimal numbers without zeros in front.
fn dotted(host: &str) -> Option<Ipv4Addr> {
    let mut octets = [0; 4];
    let mut parts = host.split('.');
    for octet in &mut octets {
        let part = parts.next()?;
        *octet = number(part).filter(|_| part == "0" || !part.starts_with('0'))?;
    }
    parts.next().is_none().then(|| octets.into())
}

fn number<T: core::str::FromStr>(text: &str) -> Option<T> {
    let digits = text.bytes().all(|byte| byte.is_ascii_digit());
    digits.then(|| text.parse().ok())?
}

/// The blocks of RFC 6890 that no public server is in.
fn private4(address: Ipv4Addr) -> bool {
    let [a, b, c, _] = address.octets();
    match a {
        // This network, private, loopback; multicast, reserved and broadcast.
        0 | 10 | 127 | 224..=255 => true,
        100 => (64..128).contains(&b),
        169 => b == 254,
        172 => (16..32).contains(&b),
        192 => b == 168 || (b == 0 && (c == 0 || c == 2)) || (b == 88 && c == 99),
        198 => b == 18 || b == 19 || (b == 51 && c == 100),
        203 => b == 0 && c == 113,
        _ => false,
    }
}

fn private6(address: Ipv6Addr) -> bool {
    let s = address.segments();
    let tail = Ipv4Addr::from((u32::from(s[6]) << 16) | u32::from(s[7]));
    let head = Ipv4Addr::from((u32::from(s[1]) << 16) | u32::from(s[2]));
    // Unspecified, loopback, IPv4-compatible and IPv4-mapped ones are judged by the IPv4 address; `::` and `::1` are
    // 0.0.0.0 and 0.0.0.1.
    let embedded = s[..5] == [0; 5] && (s[5] == 0 || s[5] == 0xffff);
    let translated = s[0] == 0x64 && s[1] == 0xff9b;
    (embedded && private4(tail))
        || (s[..4] == [0; 4] && s[4] == 0xffff && s[5] == 0)
        || (translated && (s[2..6] != [0; 4] || private4(tail)))
        || (s[0] == 0x2002 && private4(head))
        // Discard-only, Teredo and other protocol assignments, documentation.
        || (s[0] == 0x100 && s[1..4] == [0; 3])
        || (s[0] == 0x2001 && (s[1] < 0x200 || s[1] == 0xdb8))
        // Unique local, link-local, site-local, multicast.
        || (s[0] & 0xfe00) == 0xfc00
        || (s[0] & 0xff80) == 0xfe80
        || (s[0] & 0xff00) == 0xff00
}
