//! The built demo, or a short page that says how to build it.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, Uri, header};
use axum::middleware::{Next, from_fn, from_fn_with_state};
use axum::response::{Html, IntoResponse, Redirect, Response};
use axum::{Extension, Router};
use tower_http::services::{ServeDir, ServeFile};

use super::Http;
use super::respond::Refusal;
use super::turns::PATIENCE;
use crate::problem::Problem;
use crate::service::access::Caller;

const NO_DEMO: &str = "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>refloat server</title>\
<h1>refloat server</h1><p>The server runs. The demo is not built here: <code>npm start</code> in the repository builds \
and opens it, or point <code>--demo</code> at its folder.</p><p>Addresses: <a href=\"/openapi.json\">/openapi.json</a>, \
<a href=\"/v1/params\">/v1/params</a>.</p>";

/// Serves everything that no route takes.
pub fn service(http: &Arc<Http>) -> Router {
    let config = &http.service.config;
    let router = if let Some(folder) = demo_folder(&config.server.demo) {
        tracing::info!(folder = %folder.display(), "serving the demo");
        let directory = ServeDir::new(&folder).append_index_html_on_directories(true);
        Router::new().fallback_service(directory.fallback(Router::new().fallback(
            move |uri: Uri, request: Request| {
                let folder = folder.clone();
                async move { page(&uri, &folder, request).await }
            },
        )))
    } else {
        if !config.server.demo.as_os_str().is_empty() {
            tracing::warn!(folder = %config.server.demo.display(), "server.demo leads to no built demo: there is no index.html in it");
        }
        Router::new().route("/", axum::routing::get(|| async { Html(NO_DEMO) })).fallback(nothing)
    };
    router.layer(from_fn(isolate)).layer(from_fn_with_state(Arc::clone(http), in_turn))
}

/// Whether a path is one of the demo's: everything that is not a route of the server.
pub fn is_file(path: &str) -> bool {
    let routes = ["/healthz", "/readyz", "/metrics", "/version", "/openapi.json"];
    !path.starts_with("/v1/") && !routes.contains(&path)
}

/// The folder of the built demo: as configured, or beside the binary, or under the working folder.
pub fn demo_folder(configured: &Path) -> Option<PathBuf> {
    let has_page = |folder: &PathBuf| folder.join("index.html").is_file();
    if !configured.as_os_str().is_empty() {
        return Some(configured.to_owned()).filter(has_page);
    }
    let binary = std::env::current_exe().ok();
    let beside = binary.as_deref().and_then(Path::parent);
    [
        beside.map(|folder| folder.join("demo")),
        beside.and_then(Path::parent).map(|folder| folder.join("share/refloat/demo")),
        Some(PathBuf::from("demo/dist")),
    ]
    .into_iter()
    .flatten()
    .find(has_page)
}

/// Answers a path without a file: with the page of that name, without `.html`, or else with the demo's page for what is missing. The answer
/// is a problem if there is no such page, or if the path looks like that of a file and the request does not ask for a page.
async fn page(uri: &Uri, folder: &Path, request: Request) -> Response {
    let path = uri.path().trim_start_matches('/');
    let of_file = path.rsplit('/').next().is_some_and(|last| last.contains('.'));
    if of_file && !asks_for_page(request.headers()) {
        return nothing(uri.clone()).await.into_response();
    }
    let name = path.trim_end_matches('/');
    let is_name = !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-');
    let named = folder.join(format!("{name}.html"));
    if is_name && named.is_file() {
        // Links of a page are relative to the folder that it is in.
        return if name.len() < path.len() {
            Redirect::permanent(&format!("/{name}")).into_response()
        } else {
            file(&named, request).await
        };
    }
    let missing = folder.join("404.html");
    if !missing.is_file() {
        return nothing(uri.clone()).await.into_response();
    }
    let mut response = file(&missing, request).await;
    if response.status().is_success() {
        *response.status_mut() = StatusCode::NOT_FOUND;
    }
    response
}

/// Whether a browser goes to this address: scripts, styles and programs do not ask for HTML.
fn asks_for_page(headers: &HeaderMap) -> bool {
    headers
        .get_all(header::ACCEPT)
        .iter()
        .any(|accept| accept.to_str().is_ok_and(|types| types.contains("text/html")))
}

async fn file(path: &Path, request: Request) -> Response {
    match tower::ServiceExt::oneshot(ServeFile::new(path), request).await {
        Ok(response) => response.into_response(),
        Err(never) => match never {},
    }
}

async fn nothing(uri: Uri) -> Refusal {
    let path: String = uri.path().chars().take(200).collect();
    let detail = format!(
        "there is no file or route {path}; GET /openapi.json lists the routes, and a proxy that serves them below a path has to take it off"
    );
    Problem::not_found(detail).into()
}

/// Bounds the open files, in all and for each peer: a file is open for as long as its answer is under way.
async fn in_turn(
    State(http): State<Arc<Http>>,
    Extension(caller): Extension<Arc<Caller>>,
    request: Request,
    next: Next,
) -> Response {
    match http.files.take(caller.peer, PATIENCE).await {
        Ok(slot) => (Extension(Arc::new(slot)), next.run(request).await).into_response(),
        Err(full) => Refusal::from(full.problem("files")).into_response(),
    }
}

/// Lets the page use threads and keeps other origins from embedding its files.
async fn isolate(request: Request, next: Next) -> Response {
    let immutable = request.uri().path().starts_with("/assets/");
    let mut response = next.run(request).await;
    let success = response.status().is_success();
    let headers = response.headers_mut();
    headers.insert("cross-origin-resource-policy", HeaderValue::from_static("same-origin"));
    let caching = if immutable && success { "public, max-age=31536000, immutable" } else { "no-cache" };
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static(caching));
    response
}
