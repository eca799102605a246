//! The `OpenAPI` description, made from the handlers.
//!
//! Handlers state their own answers. Those that any address may give, because of checks before its handler, are added here.

use utoipa::openapi::path::{Operation, Parameter, PathItem};
use utoipa::openapi::schema::{Components, Object, Schema, SchemaType, Type};
use utoipa::openapi::security::{
    ApiKey, ApiKeyValue, HttpAuthScheme, HttpBuilder, SecurityRequirement, SecurityScheme,
};
use utoipa::openapi::{ContentBuilder, Ref, RefOr, Response, ResponseBuilder};
use utoipa::{Modify, OpenApi, ToSchema};

pub use crate::problem::Document as Problem;

/// Bytes as they are.
#[derive(ToSchema)]
#[schema(value_type = String, format = Binary)]
pub struct Bytes(#[allow(dead_code)] Vec<u8>);

#[derive(OpenApi)]
#[openapi(
    info(
        title = "refloat",
        description = "Bootstrapping as a service: evaluation keys and ciphertexts go in, refreshed ciphertexts come out. No secret key is ever taken. \
A method that an address does not take is answered with 405, an address that is not here with 404, both with a problem document."
    ),
    servers((url = "/", description = "The server that sent this document")),
    paths(
        super::meta::params,
        super::meta::shards,
        super::keys::open,
        super::keys::get,
        super::keys::head,
        super::keys::put_chunk,
        super::keys::commit,
        super::keys::wake,
        super::keys::delete,
        super::key_sets::list,
        super::key_sets::remove,
        super::jobs::submit,
        super::jobs::get,
        super::jobs::cancel,
        super::jobs::result,
        super::stream::events,
        super::meta::healthz,
        super::meta::readyz,
        super::meta::metrics,
        super::meta::version,
        super::meta::openapi,
    ),
    components(schemas(Problem, crate::service::views::StageDocument, crate::service::views::End)),
    modifiers(&BeforeHandlers)
)]
struct Api;

/// The description of this version.
pub fn document() -> utoipa::openapi::OpenApi {
    Api::openapi()
}

/// Adds the problems that a request can meet before and around its handler.
struct BeforeHandlers;

impl Modify for BeforeHandlers {
    fn modify(&self, openapi: &mut utoipa::openapi::OpenApi) {
        add_schemes(openapi.components.get_or_insert_default());
        for (path, item) in &mut openapi.paths.paths {
            let PathItem { get, put, post, delete, head, .. } = item;
            for operation in [get, put, post, delete].into_iter().flatten() {
                complete(path, operation, &problem);
            }
            if let Some(operation) = head {
                complete(path, operation, &Response::new);
            }
        }
    }
}

/// The token of a key set.
const TOKEN: &str = "keyToken";
/// The API key, on servers that ask for one.
const API_KEY: &str = "apiKey";

fn add_schemes(components: &mut Components) {
    let token = HttpBuilder::new()
        .scheme(HttpAuthScheme::Bearer)
        .bearer_format("64 hexadecimal digits")
        .description(Some("The token of a key set: chosen by the client that makes the set, or else drawn by the server and told once"))
        .build();
    let api_key = ApiKeyValue::with_description(
        "x-api-key",
        "A secret from the operator of a server that is configured to ask for one",
    );
    components.add_security_scheme(TOKEN, SecurityScheme::Http(token));
    components.add_security_scheme(API_KEY, SecurityScheme::ApiKey(ApiKey::Header(api_key)));
}

/// The ways to authorise a request: with a token; with an API key too, where one is asked for; or without, for public key sets.
fn requirements() -> Vec<SecurityRequirement> {
    let none: [String; 0] = [];
    vec![
        SecurityRequirement::new(TOKEN, none.clone()),
        SecurityRequirement::new(TOKEN, none.clone()).add(API_KEY, none.clone()),
        SecurityRequirement::new(API_KEY, none),
        SecurityRequirement::default(),
    ]
}

fn complete(path: &str, operation: &mut Operation, answer: &dyn Fn(&'static str) -> Response) {
    let mut parameters: Vec<&mut Parameter> = operation
        .parameters
        .iter_mut()
        .flatten()
        .filter_map(|parameter| match parameter {
            RefOr::T(parameter) => Some(parameter),
            RefOr::Ref(_) => None,
        })
        .collect();
    for parameter in &mut parameters {
        forbid_null(parameter);
    }
    let received = operation.request_body.is_some();
    // Documents take no turn.
    let in_turn = matches!(&operation.request_body, Some(RefOr::T(body)) if body.content.contains_key("application/octet-stream"));
    let named = path.contains('{') || received;
    let sent = path.ends_with("/result") || path.ends_with("/events");
    let stored = path.starts_with("/v1/") && path != "/v1/params";
    let operators = path.starts_with("/v1/key-sets");
    if stored && !operators {
        operation.security = Some(requirements());
    }
    let possible = [
        (true, "400", "The query, a header or the body is not understood"),
        (
            stored && !operators,
            "401",
            "The token of the key set, or the API key that this server asks for, is missing; a public key set may be used without",
        ),
        (
            stored,
            "403",
            "The token or the API key is another one, or the Host or the Origin of the request is not one that this server answers",
        ),
        (true, "403", "The Host or the Origin of the request is not one that this server answers"),
        (named, "404", "There is no job, key set, piece or parameter set of this name"),
        (received, "408", "The body came too slowly"),
        (received, "413", "The body is longer than what this address takes"),
        (!received, "415", "The request has a Content-Encoding"),
        (received, "415", "The body is of another media type than stated here, or has a Content-Encoding"),
        (sent, "429", "Too many results or event streams are being sent; Retry-After says when to come back"),
        (in_turn, "429", "Too many bodies are being received; Retry-After says when to come back"),
        (stored, "500", "The server could not do this; its log has the reason"),
        (true, "503", "As many connections are open as this server takes, or it is stopping"),
        (stored && !operators, "507", "There is no room for this on the disk, in memory, or within a quota"),
    ];
    let responses = &mut operation.responses.responses;
    for (_, status, description) in possible.into_iter().filter(|(possible, ..)| *possible) {
        responses.entry(status.to_owned()).or_insert_with(|| answer(description).into());
    }
}

/// Takes `null` out of the types of a parameter: an optional one is left out instead.
fn forbid_null(parameter: &mut Parameter) {
    if let Some(RefOr::T(Schema::Object(Object { schema_type, .. }))) = &mut parameter.schema
        && let SchemaType::Array(types) = schema_type
    {
        types.retain(|each| *each != Type::Null);
        if let [only] = &types[..] {
            *schema_type = SchemaType::Type(only.clone());
        }
    }
}

fn problem(description: &'static str) -> Response {
    let content = ContentBuilder::new().schema(Some(Ref::from_schema_name("Problem"))).build();
    ResponseBuilder::new().description(description).content("application/problem+json", content).build()
}
