//! `GET /v1/jobs/{id}/events`: what happened to a job so far, and what happens next.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::http::HeaderMap;
use axum::response::sse::{Event, KeepAlive, Sse};
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;

use super::named_resource::Asked;
use super::respond::Refusal;
use super::{Http, blocking, openapi};
use crate::id::Id;
use crate::problem::Problem;
use crate::service::Service;
use crate::store::events::END;

type Stream = Sse<axum::response::sse::KeepAliveStream<ReceiverStream<Result<Event, Infallible>>>>;

/// Events of a job: `state`, `stage` and a last `end`. After a broken connection, Last-Event-ID
/// says from where to go on; nothing is lost.
#[utoipa::path(get, path = "/v1/jobs/{id}/events", operation_id = "get_job_events", tag = "jobs",
    params(("id" = String, Path, description = "Job"), ("Last-Event-ID" = Option<u64>, Header, description = "Last event the client has")),
    responses(
    (status = 200, description = "Server-sent events", content_type = "text/event-stream", body = String),
    (status = 404, description = "No such job", content_type = "application/problem+json", body = openapi::Problem),
))]
pub async fn events(asked: Asked, headers: HeaderMap) -> Result<Stream, Refusal> {
    let last = match headers.get("last-event-id") {
        None => 0,
        Some(value) => value
            .to_str()
            .ok()
            .and_then(|text| text.trim().parse().ok())
            .ok_or_else(|| Problem::bad_request("Last-Event-ID is the number of an event of this job"))?,
    };
    asked.of(Service::job).await?;
    let Asked { http, caller, id } = asked;
    let permit = http.streams.try_take(caller.peer).map_err(|full| full.problem("event streams"))?;
    let (sender, receiver) = mpsc::channel(16);
    tokio::spawn(async move {
        follow(&http, id, last, &sender).await;
        drop(permit);
    });
    Ok(Sse::new(ReceiverStream::new(receiver)).keep_alive(KeepAlive::new().interval(Duration::from_secs(15))))
}

async fn follow(http: &Arc<Http>, id: Id, mut last: u64, sender: &mpsc::Sender<Result<Event, Infallible>>) {
    let mut changes = http.service.events.subscribe(id);
    let mut stop = http.stop.clone();
    loop {
        changes.mark_unchanged();
        let Ok(events) = blocking(http, move |service| service.events_after(id, last)).await else { return };
        let more = events.len() >= 256;
        for event in events {
            last = event.id;
            let ended = event.name == END;
            let message = Event::default()
                .id(event.id.to_string())
                .event(event.name)
                .data(event.data)
                .retry(Duration::from_secs(1));
            if sender.send(Ok(message)).await.is_err() || ended {
                return;
            }
        }
        if more {
            continue;
        }
        tokio::select! {
            changed = changes.changed() => if changed.is_err() { return },
            _ = stop.wait_for(|stop| *stop) => return,
            () = sender.closed() => return,
        }
    }
}
