//! Section `[cluster]`: one server on many machines.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::ConfigError;

/// Section `[cluster]`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ClusterSection {
    /// What this process does.
    pub role: Role,
    /// Where NATS is: `nats://host:4222`, or several with commas between them; `tls://` for encryption. Empty where one process
    /// does everything.
    pub nats: String,
    /// File with the credentials that NATS asks for; empty: none.
    #[schema(value_type = String)]
    pub credentials: PathBuf,
    /// Name of this front, or of the one that this worker works for. Each front has a data folder and a name of its own: letters,
    /// digits, `-` and `_`.
    pub front: String,
    /// Seconds without a sign of a job that is out after which it is handed out again.
    pub lease_seconds: u64,
}

impl Default for ClusterSection {
    fn default() -> Self {
        Self {
            role: Role::All,
            nats: String::new(),
            credentials: PathBuf::new(),
            front: "0".to_owned(),
            lease_seconds: 20,
        }
    }
}

/// What a process of the server does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, ToSchema, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Answers requests and runs jobs.
    #[default]
    All,
    /// Answers requests, has the table of jobs and hands them out.
    Front,
    /// Runs jobs that a front hands out, with keys and inputs from the front's data folder.
    Worker,
}

/// Signs of life come every three seconds.
const LEAST_LEASE: u64 = 10;

impl ClusterSection {
    /// Refuses what fits together with nothing.
    pub(super) fn check(&self) -> Result<(), ConfigError> {
        let fail = |what: String| Err(ConfigError(what));
        if self.lease_seconds < LEAST_LEASE {
            return fail(format!(
                "cluster.lease_seconds = {}: workers give a sign every few seconds; the least is {LEAST_LEASE}",
                self.lease_seconds
            ));
        }
        match (self.role, self.nats.is_empty()) {
            // The address may have a password.
            // The address may have a password.
            (Role::All, false) => fail(
                "cluster.nats is set and cluster.role = \"all\": a server that does everything itself asks no NATS; choose the role \
                 front or worker, or leave cluster.nats out"
                    .to_owned(),
            ),
            (Role::Front | Role::Worker, true) => fail(format!(
                "cluster.role = {:?} without cluster.nats: say where NATS is, such as nats://127.0.0.1:4222",
                if self.role == Role::Front { "front" } else { "worker" }
            )),
            (Role::Front | Role::Worker, false) if !cfg!(feature = "cluster") => {
                fail("cluster.role: this program was built without the feature \"cluster\"; it can only do everything itself".to_owned())
            }
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn roles_and_nats_go_together() {
        let with =
            |role, nats: &str| ClusterSection { role, nats: nats.to_owned(), ..ClusterSection::default() };
        assert_eq!(ClusterSection::default().check(), Ok(()));
        for (section, names) in [
            (with(Role::All, "nats://127.0.0.1:4222"), "cluster.role = \"all\""),
            (with(Role::Front, ""), "cluster.role = \"front\""),
            (with(Role::Worker, ""), "cluster.role = \"worker\""),
            (ClusterSection { lease_seconds: 9, ..ClusterSection::default() }, "cluster.lease_seconds = 9"),
        ] {
            let error = section.check().unwrap_err().0;
            assert!(error.contains(names), "{error}");
        }
        let fits = with(Role::Worker, "nats://127.0.0.1:4222").check();
        assert_eq!(fits.is_ok(), cfg!(feature = "cluster"));
    }
}
