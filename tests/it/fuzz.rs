//! Good inputs, changed by chance: bytes flipped, ends cut off, keys twice, values of another type,
//! numbers without bound, nesting without end, letters that are none.
//!
//! What once broke something is kept in the seeds beside the corpus and is tried first. With
//! `CLANKIE_FUZZ_TIMES=n` each part tries n times as many.

mod bodies;
mod configuration;

use std::path::PathBuf;

use proptest::prelude::*;
use proptest::test_runner::{Config, FileFailurePersistence, TestRunner};

/// What is put somewhere, or in place of a value.
const WORDS: [&str; 34] = [
    "null",
    "true",
    "0",
    "-1",
    "1.5",
    "1e999",
    "18446744073709551616",
    "-9223372036854775809",
    "00000000000000000000000000000000000000000000000000000000000000000001",
    "\"\"",
    "\" \"",
    "\"\\ud800\"",
    "\"\\u0000\"",
    "\"\u{202e}gpj.exe\"",
    "\"l\u{e4}b\"",
    "\"l\u{430}b\"",
    "\"9999999999999999999s\"",
    "[]",
    "{}",
    "[[\"a\"]]",
    "[",
    "{\"a\":",
    "\"",
    "\\",
    "\u{feff}",
    "\u{0}",
    "\u{2028}",
    "\r\n",
    "=",
    "'''",
    "[limits]\n",
    "[[rooms.local]]\n",
    "data: [DONE]\n\n",
    "event: error\ndata: {}\n\n",
];
/// How often a word is put at most: deeper than any reader should follow.
const DEEP: u16 = 3_000;

/// One change. Places are shares of the whole, so that each fits whatever was changed before.
#[derive(Debug, Clone)]
pub(crate) enum Change {
    Flip { at: u16, bit: u8 },
    Letter { at: u16, to: u8 },
    Cut { at: u16 },
    Gone { piece: u16 },
    Twice { piece: u16, before: u16 },
    Put { at: u16, what: &'static str, times: u16 },
    Value { nth: u16, what: &'static str },
}

/// Up to five changes, most often one.
pub(crate) fn changes() -> impl Strategy<Value = Vec<Change>> {
    let word = || prop::sample::select(WORDS.to_vec());
    let times = prop_oneof![9 => Just(1_u16), 1 => 2..DEEP];
    let change = prop_oneof![
        2 => (any::<u16>(), 0..8_u8).prop_map(|(at, bit)| Change::Flip { at, bit }),
        4 => (any::<u16>(), prop::sample::select(b"aeZ019".to_vec())).prop_map(|(at, to)| Change::Letter { at, to }),
        1 => any::<u16>().prop_map(|at| Change::Cut { at }),
        2 => any::<u16>().prop_map(|piece| Change::Gone { piece }),
        2 => any::<(u16, u16)>().prop_map(|(piece, before)| Change::Twice { piece, before }),
        2 => (any::<u16>(), word(), times).prop_map(|(at, what, times)| Change::Put { at, what, times }),
        4 => (any::<u16>(), word()).prop_map(|(nth, what)| Change::Value { nth, what }),
    ]
    .boxed();
    let many = prop_oneof![3 => Just(1_usize), 2 => 2_usize..6];
    many.prop_flat_map(move |many| prop::collection::vec(change.clone(), many))
}

/// What becomes of something good.
pub(crate) fn changed(good: &[u8], changes: &[Change]) -> Vec<u8> {
    changes.iter().fold(good.to_vec(), |bytes, change| change.made(bytes))
}

impl Change {
    fn made(&self, mut bytes: Vec<u8>) -> Vec<u8> {
        match *self {
            Self::Flip { at, bit } => {
                let at = share(at, bytes.len());
                bytes.iter_mut().skip(at).take(1).for_each(|byte| *byte ^= 1 << bit);
                bytes
            }
            Self::Letter { at, to } => {
                let at = share(at, bytes.len());
                bytes.iter_mut().skip(at).take(1).for_each(|byte| *byte = to);
                bytes
            }
            Self::Cut { at } => {
                bytes.truncate(share(at, bytes.len()));
                bytes
            }
            Self::Gone { piece } => {
                let mut pieces = pieces(&bytes);
                if !pieces.is_empty() {
                    pieces.remove(share(piece, pieces.len()));
                }
                pieces.concat()
            }
            Self::Twice { piece, before } => {
                let mut pieces = pieces(&bytes);
                if let Some(again) = pieces.get(share(piece, pieces.len())).copied() {
                    pieces.insert(share(before, pieces.len()), again);
                }
                pieces.concat()
            }
            Self::Put { at, what, times } => {
                let at = share(at, bytes.len() + 1);
                bytes.splice(at..at, what.repeat(times.into()).bytes());
                bytes
            }
            Self::Value { nth, what } => {
                let begins: Vec<usize> =
                    (0..bytes.len()).filter(|at| matches!(bytes[*at], b':' | b'=')).map(|at| at + 1).collect();
                if let Some(&from) = begins.get(share(nth, begins.len())) {
                    let ends = |byte: &u8| matches!(byte, b',' | b'}' | b']' | b'\n');
                    let to = bytes[from..].iter().position(ends).map_or(bytes.len(), |more| from + more);
                    bytes.splice(from..to, what.bytes());
                }
                bytes
            }
        }
    }
}

/// A place below `of`.
fn share(at: u16, of: usize) -> usize {
    usize::from(at) * of / (usize::from(u16::MAX) + 1)
}

fn pieces(bytes: &[u8]) -> Vec<&[u8]> {
    bytes.split_inclusive(|byte| matches!(byte, b',' | b'\n')).collect()
}

/// A runner of that many cases, or as many times more as the environment asks for.
pub(crate) fn runner(part: &str, cases: u32) -> TestRunner {
    let times = std::env::var("CLANKIE_FUZZ_TIMES").map_or(1, |times| times.parse().unwrap());
    let seeds: &'static str = format!("tests/it/fuzz/corpus/{part}.seeds").leak();
    let store = FileFailurePersistence::Direct(seeds);
    TestRunner::new(Config {
        cases: cases * times,
        max_shrink_iters: 300,
        failure_persistence: Some(Box::new(store)),
        ..Config::default()
    })
}

/// The good inputs of a part, in the order of their names.
pub(crate) fn corpus(part: &str) -> Vec<(String, Vec<u8>)> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/it/fuzz/corpus").join(part);
    let mut found: Vec<(String, Vec<u8>)> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .map(|path| (path.file_name().unwrap().to_string_lossy().into_owned(), std::fs::read(path).unwrap()))
        .collect();
    found.sort();
    assert!(!found.is_empty(), "the corpus of {part} is gone");
    found
}

#[test]
fn every_change_fits_every_input() {
    for good in [&b""[..], b"{\"a\":1,\"b\":[2]}", b"a = 1\nb = 2\n"] {
        for at in [0, 1, u16::MAX / 2, u16::MAX] {
            let all = [
                Change::Flip { at, bit: 7 },
                Change::Letter { at, to: b'a' },
                Change::Cut { at },
                Change::Gone { piece: at },
                Change::Twice { piece: at, before: at },
                Change::Put { at, what: "[", times: DEEP },
                Change::Value { nth: at, what: "null" },
            ];
            assert!(changed(good, &all).len() <= 2 * good.len() + usize::from(DEEP) + 8);
        }
    }
    let twice = changed(b"{\"a\":1,\"b\":2}", &[Change::Twice { piece: 0, before: 0 }]);
    assert_eq!(twice, b"{\"a\":1,{\"a\":1,\"b\":2}");
    assert_eq!(changed(b"{\"a\":1,\"b\":2}", &[Change::Value { nth: 0, what: "null" }]), b"{\"a\":null,\"b\":2}");
}
