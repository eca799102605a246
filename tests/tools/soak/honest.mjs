// Clients that do everything right, remember everything that was acknowledged, and check all of it.
import { randomUUID } from 'node:crypto';
import { sleep } from './random.mjs';

/** Milliseconds after which something that was accepted, or asked for again and again, counts as stuck. */
const PATIENCE = 150_000;

/** How many finished jobs are remembered, whose results are fetched again up to the end. */
const REMEMBERED = 200;

const FINAL = new Set(['done', 'failed', 'cancelled']);

/** Answers after which a client repeats the request: the server is away, busy or full, or has failed for reasons that may pass. */
const LATER = new Set([0, 408, 429, 503]);
const LATER_CODES = new Set(['INTERNAL', 'STORAGE_FULL', 'QUOTA']);

/** What errors about stored bytes say of their repair. */
const REPAIRS = {
  INPUT_DAMAGED: /submit it again/,
  RESULT_DAMAGED: /submit the job again/,
  KEY_PIECE_DAMAGED: /upload piece \d+ again.* and submit the job again/,
  STORAGE_FULL: /try again|delete|raise/,
};

export class HonestClients {
  #host;
  #ledger;
  #random;
  #scratch;
  #ending = false;
  #loops = [];

  /** Key sets with what is known of them: `acknowledged` pieces, `damages` done to them. */
  sets;

  /** Jobs that were accepted and have not ended. */
  open = new Set();

  /** Jobs that ended with the right result, the oldest first. */
  done = [];

  constructor(host, { gates, ckks, scratch }, ledger, random) {
    this.#host = host;
    this.#ledger = ledger;
    this.#random = random;
    const fresh = (set) => ({ ...set, acknowledged: new Set(), damages: [], healing: undefined });
    this.sets = [...gates, ckks].map(fresh);
    this.#scratch = fresh(scratch);
  }

  /** Uploads the keys and starts to work. */
  async begin() {
    for (const set of this.sets) {
      if (!(await this.#upload(set))) return this.#ledger.breakOff('stuck', `${set.params} cannot be uploaded at all`);
    }
    const [a, b, ckks] = this.sets;
    this.#loops = [a, a, b, b, ckks].map((set) => this.#forever(() => this.#burst(set)));
    this.#loops.push(this.#forever(() => this.#readOneAgain()), this.#forever(() => this.#races()));
  }

  /** Starts nothing new, and follows everything to its end. */
  async finish() {
    this.#ending = true;
    await Promise.all(this.#loops);
  }

  /** Once all faults are over, checks that every set is or can be made whole, and that every result is still there. */
  async verify() {
    for (const set of this.sets) for (const task of set.tasks) await this.#work(set, task);
    for (const job of this.done) await this.#checkResult(job, 'at the end');
  }

  async #forever(action) {
    while (!this.#ending && !this.#ledger.broken) {
      await action();
      await sleep(this.#random.between(0, 60));
    }
  }

  /** A few jobs at a time, so that some are waiting when something happens. */
  async #burst(set) {
    const count = this.#random.between(1, 3);
    await Promise.all(Array.from({ length: count }, () => this.#work(set, this.#random.pick(set.tasks))));
  }

  /** Does one job until its result is right, again and again if stored bytes were damaged. */
  async #work(set, task) {
    for (let tries = 0; tries < 20 && !this.#ledger.broken; tries++) {
      const job = await this.#submit(set, task);
      if (!job) return;
      if ((await this.#follow(job)) !== 'again') return;
    }
  }

  /** Repeats a request until it is answered; `undefined` when that takes too long. */
  async #until(method, path, options) {
    const began = Date.now();
    while (!this.#ledger.broken) {
      const asked = Date.now();
      const answer = await this.#host.ask(method, path, options);
      const internal = answer.code === 'INTERNAL';
      // Only now is it known whether the server could read and write when it answered.
      if (internal && !this.#host.troubled) this.#ledger.find('wrong', `${method} ${path}: internal error without a cause`);
      this.#checkRepair(answer.json);
      if (!LATER.has(answer.status) && !LATER_CODES.has(answer.code)) return answer;
      if (asked - began > PATIENCE) {
        this.#ledger.find('stuck', `${method} ${path}: still ${answer.status} ${answer.code ?? ''} after ${PATIENCE / 1000} s`);
        return undefined;
      }
      await sleep(this.#random.between(50, 300));
    }
    return undefined;
  }

  /** Checks that a problem about stored bytes says how to repair it. */
  #checkRepair(problem) {
    const { code, detail } = problem ?? {};
    if (code in REPAIRS && !REPAIRS[code].test(detail)) this.#ledger.find('wrong', `${code} does not say the repair: ${detail}`);
  }

  #headers(set, more) {
    return { authorization: `Bearer ${set.token}`, ...more };
  }

  #json(set, value) {
    return { headers: this.#headers(set, { 'content-type': 'application/json' }), body: JSON.stringify(value) };
  }

  #bytes(set, body, more) {
    return { headers: this.#headers(set, { 'content-type': 'application/octet-stream', ...more }), body };
  }

  #opening(set) {
    const { params, fingerprint, id, pieces } = set;
    return this.#json(set, { params, fingerprint, keyId: id, parts: pieces.length });
  }

  /** Sends what the server lacks, seals, and checks that nothing acknowledged was forgotten. Returns whether the set is whole now. */
  async #upload(set) {
    for (let tries = 0; tries < 20; tries++) {
      const opened = await this.#until('POST', '/v1/keys', this.#opening(set));
      if (!opened) return false;
      if (opened.status !== 200 && opened.status !== 201) return this.#refused(`opening ${set.params}`, opened);
      const missing = opened.json.missing;
      for (const index of missing) {
        const damaged = set.damages.some((damage) => damage.piece === index && !damage.healed);
        if (set.acknowledged.has(index) && !damaged) this.#ledger.find('lost', `piece ${index} of ${set.params} ${set.id}`);
      }
      for (const index of missing) {
        const put = await this.#until('PUT', `/v1/keys/${set.id}/chunks/${index}`, this.#bytes(set, set.pieces[index]));
        if (!put) return false;
        if (put.status !== 204) return this.#refused(`piece ${index} of ${set.params}`, put);
        set.acknowledged.add(index);
        for (const damage of set.damages) if (damage.piece === index) damage.healed ??= Date.now();
      }
      const sealed = await this.#until('POST', `/v1/keys/${set.id}/commit`, { headers: this.#headers(set) });
      if (!sealed) return false;
      if (sealed.status === 200) return true;
      // Another piece was damaged, or found to be, in the meantime: try again.
      if (sealed.status !== 409) return this.#refused(`sealing ${set.params}`, sealed);
    }
    this.#ledger.find('stuck', `${set.params} ${set.id} cannot be sealed`);
    return false;
  }

  #refused(what, { status, code, json }) {
    this.#ledger.find('wrong', `${what}: ${status} ${code} ${json?.detail ?? ''}`);
    return false;
  }

  /** Uploads damaged pieces again; jobs that meet the damage at the same time wait for the same upload. */
  #heal(set) {
    set.healing ??= this.#upload(set)
      .then((whole) => whole && this.#ledger.count('healed'))
      .finally(() => {
        set.healing = undefined;
      });
    return set.healing;
  }

  /** Submits a job. Returns it once it is accepted, or `undefined` after a failure, which is counted. */
  async #submit(set, task) {
    const path = `/v1/jobs?key=${set.id}&op=${task.op}`;
    const request = this.#bytes(set, task.body, { 'idempotency-key': randomUUID() });
    for (let tries = 0; tries < 20 && !this.#ledger.broken; tries++) {
      const answer = await this.#until('POST', path, request);
      if (!answer) return undefined;
      if (answer.status === 202 || answer.status === 200) {
        const job = { id: answer.json.id, set, task, accepted: Date.now(), damaged: new Set() };
        this.open.add(job);
        this.#ledger.count('accepted');
        if (this.#random.chance(0.1)) await this.#submitAgain(job, path, request);
        return job;
      }
      if (answer.code !== 'KEYS_INCOMPLETE' || set.damages.length === 0) {
        const kind = answer.code === 'KEYS_INCOMPLETE' || answer.status === 404 ? 'lost' : 'wrong';
        this.#ledger.find(kind, `submitting to ${set.params} ${set.id}: ${answer.status} ${answer.code}`);
        await sleep(1000);
        return undefined;
      }
      await this.#heal(set);
    }
    this.#ledger.find('stuck', `${set.params} ${set.id} takes no job, however often it is healed`);
    return undefined;
  }

  /** Sends a request again, like a client that did not see the answer: it must mean the same job. */
  async #submitAgain(job, path, request) {
    const again = await this.#until('POST', path, request);
    // The answer may be that the key set was found damaged in the meantime.
    if (!again || again.code === 'KEYS_INCOMPLETE') return;
    if (again.json?.id !== job.id) this.#ledger.find('wrong', `a repeated request gave ${again.status} ${again.code ?? again.json?.id}`);
  }

  /** Follows a job to its end: 'ended', or 'again' if it reported that stored bytes were damaged. */
  async #follow(job, { mayVanish = false } = {}) {
    const cancelled = this.#random.chance(0.05);
    if (cancelled) await this.#until('DELETE', `/v1/jobs/${job.id}`, { headers: this.#headers(job.set) });
    try {
      for (;;) {
        const answer = await this.#until('GET', `/v1/jobs/${job.id}`, { headers: this.#headers(job.set) });
        if (!answer) return 'ended';
        if (answer.status !== 200) {
          if (!mayVanish) this.#ledger.find('lost', `job ${job.id} of ${job.set.params}: ${answer.status} ${answer.code}`);
          return 'ended';
        }
        if (FINAL.has(answer.json.state)) return await this.#judge(job, answer.json, cancelled);
        if (Date.now() - job.accepted > PATIENCE) {
          this.#ledger.find('stuck', `job ${job.id} of ${job.set.params} is ${answer.json.state}, cancelled: ${cancelled}`);
          return 'ended';
        }
        await sleep(this.#random.between(20, 200));
      }
    } finally {
      this.open.delete(job);
    }
  }

  async #judge(job, document, cancelled) {
    if (document.state === 'cancelled' && cancelled) {
      this.#ledger.count('cancelled');
      return 'ended';
    }
    if (document.state === 'done') return this.#checkResult(job, 'when it was done', true);
    const code = document.problem?.code;
    this.#checkRepair(document.problem);
    const damaged =
      (code === 'INPUT_DAMAGED' && job.damaged.has('input')) ||
      (code === 'KEY_PIECE_DAMAGED' &&
        job.set.damages.some(({ healed }) => healed === undefined || healed > job.accepted));
    if (!damaged) {
      this.#ledger.find('lost', `job ${job.id} of ${job.set.params} is ${document.state}: ${code} ${document.problem?.detail ?? ''}`);
      return 'ended';
    }
    this.#ledger.count('damaged');
    if (code === 'KEY_PIECE_DAMAGED') await this.#heal(job.set);
    return 'again';
  }

  async #checkResult(job, when, first = false) {
    const answer = await this.#until('GET', `/v1/jobs/${job.id}/result`, { headers: this.#headers(job.set) });
    if (!answer) return 'ended';
    const forget = () => (this.done = this.done.filter((each) => each !== job));
    if (answer.code === 'RESULT_DAMAGED' && job.damaged.has('result')) {
      this.#ledger.count('damaged');
      forget();
      return 'again';
    }
    if (answer.status !== 200) {
      this.#ledger.find('lost', `result of job ${job.id} ${when}: ${answer.status} ${answer.code}`);
      forget();
    } else if (!answer.bytes.equals(job.task.expected)) {
      this.#ledger.find('wrong', `result of job ${job.id} of ${job.set.params} ${when}: ${answer.bytes.length} other bytes`);
      forget();
    } else if (first) {
      this.#ledger.count('right');
      this.done.push(job);
      if (this.done.length > REMEMBERED) this.done.splice(this.#random.between(0, REMEMBERED - 1), 1);
      await this.#checkEvents(job);
    }
    return 'ended';
  }

  /** Checks, now and then, that the events of a finished job end with the event `end`. */
  async #checkEvents(job) {
    if (!this.#random.chance(0.05)) return;
    const answer = await this.#until('GET', `/v1/jobs/${job.id}/events`, { headers: this.#headers(job.set) });
    if (answer && !/^event: ?end$/m.test(String(answer.bytes))) {
      this.#ledger.find('lost', `the end of the events of job ${job.id}: ${answer.status} ${String(answer.bytes).slice(-200)}`);
    }
  }

  /** Fetches the result of a job again. */
  async readAgain(job) {
    await this.#checkResult(job, 'later');
  }

  /** Checks that a result fetched some time ago is still there. */
  async #readOneAgain() {
    await sleep(200);
    if (this.done.length) await this.readAgain(this.#random.pick(this.done));
  }

  /** Makes all requests about one key set at once; afterwards the set can be uploaded and used as ever. */
  async #races() {
    await sleep(this.#random.between(100, 500));
    const set = this.#scratch;
    const { id, pieces, tasks } = set;
    const [task] = tasks;
    const headers = this.#headers(set);
    const requests = [
      ['POST', '/v1/keys', this.#opening(set)],
      ...pieces.map((piece, index) => ['PUT', `/v1/keys/${id}/chunks/${index}`, this.#bytes(set, piece)]),
      ['POST', `/v1/keys/${id}/commit`, { headers }],
      ['POST', `/v1/jobs?key=${id}&op=${task.op}`, this.#bytes(set, task.body)],
      ['GET', `/v1/keys/${id}`, { headers }],
      ['DELETE', `/v1/keys/${id}`, { headers }],
      ['DELETE', `/v1/keys/${id}`, { headers }],
    ];
    const jobs = [];
    const sent = requests.map(async ([method, path, options]) => {
      await sleep(this.#random.between(0, 30));
      const answer = await this.#host.ask(method, path, options);
      if (answer.status >= 500 && !this.#host.troubled && ![503, 507].includes(answer.status)) {
        this.#ledger.find('wrong', `racing ${method} ${path}: ${answer.status} ${answer.code}`);
      }
      if (answer.status === 202 && method === 'POST') jobs.push({ id: answer.json.id, set, task, accepted: Date.now(), damaged: new Set() });
    });
    await Promise.all(sent);
    for (const job of jobs) {
      this.#ledger.count('accepted');
      await this.#follow(job, { mayVanish: true });
    }
    // There is no promise whether a piece arrives before or after a deletion.
    set.acknowledged.clear();
    await this.#upload(set);
    await this.#work(set, task);
    await this.#until('DELETE', `/v1/keys/${id}`, { headers });
    set.acknowledged.clear();
  }
}
