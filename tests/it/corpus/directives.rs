//! Directives of the demo agent that are none: said in the reply and the transcript, and never a crash.

use crate::service::{Service, turn};

/// A line, and the words of its complaint.
const TABLE: &[(&str, &str)] = &[
    ("!", "no such directive"),
    ("!nonsense", "no such directive"),
    ("!Say hello", "no such directive"),
    ("!sleep", "whole number"),
    ("!sleep -1", "whole number"),
    ("!sleep 1.5", "whole number"),
    ("!sleep 99999999999999999999", "whole number"),
    ("!wait-steer never", "whole number"),
    ("!spew many", "whole number"),
    ("!spew 1073741825", "whole number"),
    ("!fail", "1–64 letters"),
    ("!fail ../../etc", "1–64 letters"),
    ("!silent please", "takes nothing"),
    ("!hang on", "takes nothing"),
    ("!exit now", "takes nothing"),
    ("!ask {", "must be JSON"),
    ("!ask [1]", "must be an object"),
    ("!mail", "must be JSON"),
    ("!tool", "NAME of a tool"),
    ("!tool react", ""),
    ("!tool react {\"reaction\":\"explode\"}", ""),
    ("!tool sudo {}", ""),
    ("!update", ""),
];

#[test]
fn malformed_directives_are_said_and_the_run_goes_on() {
    let service = Service::start("");
    for (n, (line, complaint)) in TABLE.iter().enumerate() {
        let delivery = format!("d{n}");
        let handoff = service.admit(&turn("r", &delivery, &format!("u{n}"), &format!("{line}\n!say still here")));
        let reply = service.reply("r", &delivery);
        assert!(reply.ends_with("\nstill here"), "{line}: {reply}");
        let transcript = service.transcript(&handoff).iter().map(ToString::to_string).collect::<String>();
        if complaint.is_empty() {
            assert!(transcript.contains("refused ("), "{line}: {transcript}");
        } else {
            assert!(reply.contains(complaint) && reply.contains("I cannot obey"), "{line}: {reply}");
            assert!(transcript.contains(complaint), "{line}: {transcript}");
        }
    }
}
