//! Server-sent events out of the bytes of a connection, as the HTML standard reads them.

use crate::cli::failure::Failure;

/// Longest event, in bytes: the longest ask with all of its options is some hundred KB.
const FRAME_MAX: usize = 4 * 1024 * 1024;

/// One event; without data it only moves the cursor.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Frame {
    pub(super) id: Option<String>,
    pub(super) event: Option<String>,
    pub(super) data: Option<String>,
}

/// What has come so far and is no whole event yet.
#[derive(Debug, Default)]
pub(super) struct Frames {
    rest: Vec<u8>,
    frame: Frame,
    size: usize,
}

impl Frames {
    /// Takes bytes and gives the events that are whole with them. What is no text, or never ends, is
    /// refused.
    pub(super) fn push(&mut self, bytes: &[u8]) -> Result<Vec<Frame>, Failure> {
        self.rest.extend_from_slice(bytes);
        let mut whole = Vec::new();
        while let Some(end) = self.rest.iter().position(|byte| *byte == b'\n') {
            let line: Vec<u8> = self.rest.drain(..=end).collect();
            let line = std::str::from_utf8(&line).map_err(|error| unreadable(&error.to_string()))?;
            whole.extend(self.line(line.trim_end_matches(['\r', '\n'])));
        }
        if self.rest.len() + self.size > FRAME_MAX {
            return Err(unreadable("an event that does not end"));
        }
        Ok(whole)
    }

    fn line(&mut self, line: &str) -> Option<Frame> {
        if line.is_empty() {
            self.size = 0;
            let frame = std::mem::take(&mut self.frame);
            return (frame != Frame::default()).then_some(frame);
        }
        self.size += line.len();
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value).to_owned();
        match field {
            "id" => self.frame.id = Some(value),
            "event" => self.frame.event = Some(value),
            "data" => match &mut self.frame.data {
                Some(data) => data.extend(["\n", &value]),
                None => self.frame.data = Some(value),
            },
            // A comment keeps the connection open; other fields are for browsers.
            _ => {}
        }
        None
    }
}

fn unreadable(why: &str) -> Failure {
    Failure::Unreadable { why: why.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(id: &str, event: Option<&str>, data: Option<&str>) -> Frame {
        let owned = |text: Option<&str>| text.map(str::to_owned);
        Frame { id: owned(Some(id)), event: owned(event), data: owned(data) }
    }

    #[test]
    fn events_are_the_same_however_the_connection_cuts_them() {
        let stream = ": keep-alive\n\nid: e-1\n\nid: e-2\nevent: message\ndata: {\"room\":\"é\"}\n\r\n\
                      id:e-3\r\nevent: reset\r\ndata: a\r\ndata:b\r\nretry: 9\r\n\r\nid: half";
        let expected = [
            frame("e-1", None, None),
            frame("e-2", Some("message"), Some("{\"room\":\"é\"}")),
            frame("e-3", Some("reset"), Some("a\nb")),
        ];
        for size in 1..=stream.len() {
            let mut frames = Frames::default();
            let whole: Vec<Frame> =
                stream.as_bytes().chunks(size).flat_map(|bytes| frames.push(bytes).unwrap()).collect();
            assert_eq!(whole, expected, "cut every {size} bytes");
        }
    }

    #[test]
    fn an_event_that_does_not_end_and_what_is_no_text_are_refused() {
        let mut frames = Frames::default();
        let piece = vec![b'x'; FRAME_MAX / 2 + 1];
        assert!(frames.push(&piece).is_ok());
        assert!(frames.push(&piece).is_err());
        let (mut frames, line) = (Frames::default(), format!("data: {}\n", "x".repeat(FRAME_MAX / 2)));
        assert!(frames.push(line.as_bytes()).is_ok());
        assert!(frames.push(line.as_bytes()).is_err(), "many lines of one event are one event");
        assert!(Frames::default().push(b"data: \xff\n").is_err());
    }
}
