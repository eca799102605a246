"""One upload, one job and its deletion with the client that openapi-python-client generates."""

import io
import json
import sys
import time
from pathlib import Path

from refloat_client import AuthenticatedClient
from refloat_client.api.jobs import get_job, get_job_result, submit_job
from refloat_client.api.keys import commit_keys, delete_keys, open_keys, put_key_chunk
from refloat_client.models import Commit, JobState, NewKeys
from refloat_client.types import File

journey = json.loads(Path(sys.argv[1]).read_text())
client = AuthenticatedClient(base_url=journey["url"], token=journey["token"])


def done(what, response, *statuses):
    if response.status_code not in statuses:
        raise SystemExit(f"{what}: {response.status_code} {response.content[:1000]!r}")
    return response.parsed


def file(path):
    return File(payload=io.BytesIO(Path(path).read_bytes()))


keys = done("open", open_keys.sync_detailed(client=client, body=NewKeys.from_dict(journey["keys"])), 200, 201)
for index in keys.missing:
    sent = put_key_chunk.sync_detailed(keys.id, index, client=client, body=file(journey["pieces"][index]))
    done("piece", sent, 204)
done("commit", commit_keys.sync_detailed(keys.id, client=client, body=Commit()), 200)

accepted = submit_job.sync_detailed(client=client, body=file(journey["body"]), key=keys.id, op=journey["op"])
job = done("submit", accepted, 202)
while job.state in (JobState.QUEUED, JobState.RUNNING):
    time.sleep(0.02)
    job = done("job", get_job.sync_detailed(job.id, client=client), 200)
if job.state != JobState.DONE:
    raise SystemExit(f"{job.state}: {job.problem}")
result = done("result", get_job_result.sync_detailed(job.id, client=client), 200)
Path(journey["result"]).write_bytes(result.payload.read())
done("delete", delete_keys.sync_detailed(keys.id, client=client), 204)
