//! One caller of the service over HTTP, with one credential.
//!
//! A read that gets no answer leaves nothing behind, so it is just not reachable. A write that gets
//! no answer may have had its effect: its outcome is unknown, and it is never sent twice by itself.

use std::time::Duration;

use reqwest::header::{ACCEPT, HeaderName};
use reqwest::{Method, RequestBuilder, Response, Url, redirect};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::connection::Credential;
use super::failure::Failure;
use crate::owner::wire::{DispatchRequest, Dispatched, InputGet, InputResult, Operation, ProblemBody};

/// How long a connection may take: the service is on this machine or on a near one.
const CONNECT: Duration = Duration::from_secs(5);
/// How long an answer may take beyond the time that it was asked to wait.
const ANSWER: Duration = Duration::from_secs(20);

/// Where a reader of events goes on.
const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");

/// The service, and who calls it.
#[derive(Debug, Clone)]
pub(super) struct Client {
    http: reqwest::Client,
    url: Url,
    credential: Credential,
}

/// Whether a call without an answer may have changed something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Effect {
    None,
    Possible,
}

impl Client {
    /// A caller of the service at `url`.
    pub(super) fn new(url: Url, credential: Credential) -> Result<Self, Failure> {
        // The credential goes to the service itself: to no proxy, and along no redirect.
        let builder = reqwest::Client::builder().no_proxy().redirect(redirect::Policy::none()).connect_timeout(CONNECT);
        let http = builder.build().map_err(|error| Failure::Unreadable { why: error.to_string() })?;
        Ok(Self { http, url, credential })
    }

    /// The same service, called by somebody else.
    pub(super) fn with(&self, credential: Credential) -> Self {
        Self { credential, ..self.clone() }
    }

    /// Reads a resource.
    pub(super) async fn read<T: DeserializeOwned>(
        &self,
        path: &[&str],
        query: &[(&str, String)],
    ) -> Result<T, Failure> {
        self.read_waiting(path, query, Duration::ZERO).await
    }

    /// Reads a resource that the service may hold back for `wait`, until there is something new.
    pub(super) async fn read_waiting<T: DeserializeOwned>(
        &self,
        path: &[&str],
        query: &[(&str, String)],
        wait: Duration,
    ) -> Result<T, Failure> {
        let mut url = self.address(path)?;
        if !query.is_empty() {
            url.query_pairs_mut().extend_pairs(query);
        }
        if !wait.is_zero() {
            url.query_pairs_mut().append_pair("wait", &wait.as_secs().to_string());
        }
        self.call(self.http.request(Method::GET, url), Effect::None, wait).await
    }

    /// Sends something that changes something.
    pub(super) async fn write<B: Serialize, T: DeserializeOwned>(
        &self,
        path: &[&str],
        body: &B,
        wait: Duration,
    ) -> Result<T, Failure> {
        let request = self.http.request(Method::POST, self.address(path)?).json(body);
        let request =
            if wait.is_zero() { request } else { request.header("prefer", format!("wait={}", wait.as_secs())) };
        self.call(request, Effect::Possible, wait).await
    }

    /// Calls one operation of the owner's contract that changes something.
    pub(super) async fn dispatch<T: DeserializeOwned>(&self, operation: Operation) -> Result<T, Failure> {
        value(self.operation(operation, Effect::Possible, Duration::ZERO).await?)
    }

    /// Calls one that only looks.
    pub(super) async fn look<T: DeserializeOwned>(&self, operation: Operation) -> Result<T, Failure> {
        self.look_waiting(operation, Duration::ZERO).await
    }

    /// Calls one that only looks, and that the service may hold back for `wait`, as the operation says.
    pub(super) async fn look_waiting<T: DeserializeOwned>(
        &self,
        operation: Operation,
        wait: Duration,
    ) -> Result<T, Failure> {
        value(self.operation(operation, Effect::None, wait).await?)
    }

    /// Looks at one ask.
    pub(super) async fn ask(&self, which: InputGet) -> Result<InputResult, Failure> {
        self.operation(Operation::InputGet(which), Effect::None, Duration::ZERO).await
    }

    /// Calls an operation that settles an ask. Whatever it comes to is a value of its own.
    pub(super) async fn settle(&self, operation: Operation) -> Result<InputResult, Failure> {
        self.operation(operation, Effect::Possible, Duration::ZERO).await
    }

    /// Opens a stream of events, from after that cursor on or from now on.
    pub(super) async fn stream(&self, after: Option<&str>) -> Result<Response, Failure> {
        let request = self.http.get(self.address(&["operator", "v1", "events"])?);
        let request = after.into_iter().fold(request, |request, cursor| request.header(LAST_EVENT_ID, cursor));
        let sent = request.bearer_auth(self.credential.expose()).header(ACCEPT, "text/event-stream").send();
        // Only its beginning has a time: an open stream says something now and then for as long as it stands.
        let response = match tokio::time::timeout(ANSWER, sent).await {
            Ok(sent) => sent.map_err(|error| self.unanswered(&error, Effect::None))?,
            Err(_) => return Err(self.not_reachable("it did not answer in time".to_owned())),
        };
        if response.status().is_success() {
            return Ok(response);
        }
        Err(refused(response.status().as_u16(), response).await)
    }

    /// That a stream broke off.
    pub(super) fn broken(&self, error: &reqwest::Error) -> Failure {
        self.not_reachable(cause(error))
    }

    fn not_reachable(&self, why: String) -> Failure {
        Failure::NotReachable { url: Some(self.url.to_string()), why }
    }

    async fn operation<T: DeserializeOwned>(
        &self,
        operation: Operation,
        effect: Effect,
        wait: Duration,
    ) -> Result<T, Failure> {
        let address = self.address(&["operator", "v1", "dispatch"])?;
        let request = self.http.request(Method::POST, address).json(&DispatchRequest::new(operation));
        self.call(request, effect, wait).await
    }

    /// Room names hold slashes and colons: each part of the path is one segment, escaped.
    fn address(&self, path: &[&str]) -> Result<Url, Failure> {
        let mut url = self.url.clone();
        match url.path_segments_mut() {
            Ok(mut segments) => drop(segments.pop_if_empty().extend(path)),
            Err(()) => return Err(Failure::Usage(format!("{} is no http address", self.url))),
        }
        Ok(url)
    }

    async fn call<T: DeserializeOwned>(
        &self,
        request: RequestBuilder,
        effect: Effect,
        wait: Duration,
    ) -> Result<T, Failure> {
        let sent = request.bearer_auth(self.credential.expose()).timeout(wait + ANSWER).send().await;
        let response = sent.map_err(|error| self.unanswered(&error, effect))?;
        let status = response.status();
        if status.is_success() {
            return response.json().await.map_err(|error| match effect {
                Effect::None => Failure::Unreadable { why: cause(&error) },
                Effect::Possible => Failure::OutcomeUnknown { why: cause(&error) },
            });
        }
        Err(refused(status.as_u16(), response).await)
    }

    fn unanswered(&self, error: &reqwest::Error, effect: Effect) -> Failure {
        match effect {
            Effect::Possible if !error.is_connect() && !error.is_builder() => {
                Failure::OutcomeUnknown { why: cause(error) }
            }
            Effect::None | Effect::Possible => self.not_reachable(cause(error)),
        }
    }
}

fn value<T>(answer: Dispatched<T>) -> Result<T, Failure> {
    match answer {
        Dispatched::Ready(answer) => Ok(answer),
        Dispatched::Refused(refusal) => Err(Failure::Refused(refusal)),
    }
}

async fn refused(status: u16, response: Response) -> Failure {
    match response.json::<ProblemBody>().await {
        Ok(problem) => Failure::Problem(Box::new(problem)),
        Err(_) => Failure::Problem(Box::new(ProblemBody {
            kind: "about:blank".to_owned(),
            title: format!("the service answered with status {status} and no reason"),
            status,
            detail: None,
            field: None,
            handoff_id: None,
            busy: None,
        })),
    }
}

/// The innermost cause of an error: the outer ones say only that something was sent.
fn cause(error: &reqwest::Error) -> String {
    let mut innermost: &dyn std::error::Error = error;
    while let Some(inner) = innermost.source() {
        innermost = inner;
    }
    innermost.to_string()
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::TcpListener;

    use super::*;
    use crate::cli::exit::Exit;
    use crate::owner::wire::{NoArguments, Rooms};

    /// A service that answers one call with these bytes and hangs up; and what it was asked.
    async fn once(answer: &'static str) -> (Client, tokio::task::JoinHandle<String>) {
        let _already = rustls::crypto::ring::default_provider().install_default();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let service = tokio::spawn(async move {
            let (mut socket, _) = listener.accept().await.unwrap();
            let mut asked = vec![0; 4096];
            let length = socket.read(&mut asked).await.unwrap();
            socket.write_all(answer.as_bytes()).await.unwrap();
            String::from_utf8_lossy(&asked[..length]).into_owned()
        });
        (Client::new(Url::parse(&url).unwrap(), Credential::new("clk_test")).unwrap(), service)
    }

    async fn exit_of_write(answer: &'static str) -> Exit {
        let (client, _service) = once(answer).await;
        client.dispatch::<Rooms>(Operation::RoomsList(NoArguments {})).await.unwrap_err().exit()
    }

    #[tokio::test]
    async fn a_write_without_a_whole_answer_has_an_unknown_outcome() {
        assert_eq!(exit_of_write("").await, Exit::OutcomeUnknown);
        assert_eq!(exit_of_write("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}").await, Exit::OutcomeUnknown);
        assert_eq!(exit_of_write("HTTP/1.1 200 OK\r\ncontent-length: 99\r\n\r\n{").await, Exit::OutcomeUnknown);
    }

    #[tokio::test]
    async fn a_refusal_keeps_its_own_exit_code_with_and_without_a_reason() {
        assert_eq!(exit_of_write("HTTP/1.1 401 Unauthorized\r\ncontent-length: 0\r\n\r\n").await, Exit::NotAuthorised);
        let busy = "HTTP/1.1 429 Too Many\r\ncontent-length: 55\r\n\r\n{\"type\":\"/problems/busy\",\"title\":\"busy\",\"status\":429 }  ";
        assert_eq!(exit_of_write(busy).await, Exit::Busy);
    }

    #[tokio::test]
    async fn a_read_without_an_answer_is_not_reachable() {
        let (client, _service) = once("").await;
        let failure = client.read::<Rooms>(&["x"], &[]).await.unwrap_err();
        assert_eq!(failure.exit(), Exit::NotReachable);
    }

    #[tokio::test]
    async fn nobody_listening_is_not_reachable_for_a_write_either() {
        let (client, service) = once("").await;
        service.abort();
        assert!(service.await.unwrap_err().is_cancelled());
        let failure = client.dispatch::<Rooms>(Operation::RoomsList(NoArguments {})).await.unwrap_err();
        assert_eq!(failure.exit(), Exit::NotReachable);
    }

    #[tokio::test]
    async fn a_room_name_is_one_segment_of_the_path() {
        let (client, service) = once("HTTP/1.1 200 OK\r\ncontent-length: 12\r\n\r\n{\"rooms\":[]}").await;
        let answer: Rooms = client.read(&["rooms", "v1", "a/b:c", "messages"], &[("after", "7".into())]).await.unwrap();
        assert_eq!(answer.rooms, []);
        let asked = service.await.unwrap();
        assert!(asked.starts_with("GET /rooms/v1/a%2Fb:c/messages?after=7 HTTP/1.1\r\n"), "{asked}");
        assert!(asked.contains("authorization: Bearer clk_test\r\n"), "{asked}");
    }
}
