//! The file that names the machines of a search.
//!
//! ```text
//! # a machine in each line
//! 10.0.0.2 processes=4
//! build-7.example.org:7500
//! [fd00::7]:7411 processes=2
//! ```

use std::fmt;
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// Where `fabius worker` listens, unless something else is said.
pub const PORT: u16 = 7411;

/// No file of hosts is longer than this.
const FILE_BYTES_MAX: u64 = 1 << 20;
/// No name of a machine is longer than this.
const NAME_BYTES_MAX: usize = 255;

/// A machine that takes part in a search.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Host {
    /// Its name or number, with a port.
    pub address: String,
    /// Workers to start there.
    pub processes: usize,
}

impl fmt::Display for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.address)
    }
}

/// Reads a file of hosts.
///
/// # Errors
/// What is wrong with it, in a sentence.
pub fn read(path: &Path) -> Result<Vec<Host>, String> {
    let shown = path.display();
    let failed = |error: std::io::Error| format!("cannot read the hosts in {shown}: {error}");
    let mut text = String::new();
    File::open(path).map_err(failed)?.take(FILE_BYTES_MAX).read_to_string(&mut text).map_err(failed)?;
    let mut hosts = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        let line = line.split('#').next().unwrap_or_default().trim();
        if !line.is_empty() {
            hosts.push(parse(line).map_err(|why| format!("{shown}:{number}: {why}"))?);
        }
    }
    if hosts.is_empty() {
        return Err(format!("{shown} names no hosts: expected lines such as `10.0.0.2:{PORT} processes=4`"));
    }
    Ok(hosts)
}

fn parse(line: &str) -> Result<Host, String> {
    let mut words = line.split_whitespace();
    let address = with_port(words.next().unwrap_or_default())?;
    let mut host = Host { address, processes: 1 };
    for word in words {
        let value = word.strip_prefix("processes=").ok_or_else(|| format!("expected `processes=N`, found `{word}`"))?;
        let processes = value.parse().ok().filter(|processes| 0 < *processes);
        host.processes = processes.ok_or_else(|| format!("expected a number of processes, found `{value}`"))?;
    }
    Ok(host)
}

/// An address with the usual port, if it has none.
///
/// # Errors
/// If it is no address, why.
pub fn with_port(address: &str) -> Result<String, String> {
    let wrong = || format!("expected `ADDRESS` or `ADDRESS:PORT`, found `{address}`");
    let (name, port) = match address.strip_prefix('[') {
        Some(rest) => {
            let (name, port) = rest.split_once(']').ok_or_else(wrong)?;
            (&address[..name.len() + 2], port)
        }
        None if 1 < address.matches(':').count() => {
            return Err(format!("write an IPv6 address in brackets, such as `[{address}]:{PORT}`"));
        }
        None => address.split_at(address.find(':').unwrap_or(address.len())),
    };
    let port = match port.strip_prefix(':') {
        Some(port) => port.parse().map_err(|_| wrong())?,
        None if port.is_empty() => PORT,
        None => return Err(wrong()),
    };
    if name.is_empty() || NAME_BYTES_MAX < name.len() || name.contains(|char: char| char.is_control()) {
        return Err(wrong());
    }
    Ok(format!("{name}:{port}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_names_a_machine_and_its_processes() {
        let host = |address: &str, processes| Ok(Host { address: address.to_owned(), processes });
        assert_eq!(parse("10.0.0.2"), host("10.0.0.2:7411", 1));
        assert_eq!(parse("build-7:80 processes=12"), host("build-7:80", 12));
        assert_eq!(parse("[::1]"), host("[::1]:7411", 1));
        assert_eq!(parse("[fd00::7]:9 processes=2"), host("[fd00::7]:9", 2));
        for (line, why) in [
            ("a:b", "ADDRESS:PORT"),
            ("a:70000", "ADDRESS:PORT"),
            (":80", "ADDRESS:PORT"),
            ("[::1", "ADDRESS:PORT"),
            ("[::1]x", "ADDRESS:PORT"),
            ("::1", "brackets"),
            ("a threads=2", "processes=N"),
            ("a processes=0", "number of processes"),
            ("a processes=x", "number of processes"),
        ] {
            let wrong = parse(line).expect_err(line);
            assert!(wrong.contains(why), "{line}: {wrong}");
        }
        assert!(with_port(&"a".repeat(256)).is_err());
    }
}
