// What the files of server/deploy say about containers, and whether they agree with each other. The server's own tests check their commands
// and settings (server/src/cli/documented.rs).
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';

const folder = new URL('../../server/deploy/', import.meta.url);
const read = (name) => readFileSync(new URL(name, folder), 'utf8');
const text = read('cluster.yaml');
const { services, volumes, ...others } = parse(text);
const image = read('Containerfile');
const [entry] = image.match(/(?<=^ENTRYPOINT )\[.*\]$/m).map(JSON.parse);
/** The word after an option in the entry point of the image. */
const given = (option) => entry[entry.indexOf(option) + 1];

/** The keys of the Compose specification that may be used here. */
const KEYS = ['command', 'depends_on', 'environment', 'image', 'ports', 'restart', 'volumes'];

test('the compose file has keys that Compose knows, and names what there is', () => {
  assert.deepEqual(Object.keys(others), []);
  assert.deepEqual(Object.keys(services).sort(), ['front', 'nats', 'worker']);
  for (const [name, service] of Object.entries(services)) {
    assert.deepEqual(Object.keys(service).filter((key) => !KEYS.includes(key)), [], name);
    for (const other of service.depends_on ?? []) assert.ok(other in services, `${name} depends on ${other}`);
    for (const mount of service.volumes) {
      const [from, to] = mount.split(':');
      assert.ok(to.startsWith('/'), mount);
      if (from.startsWith('.')) assert.ok(existsSync(fileURLToPath(new URL(from, folder))), `${mount}: there is no ${from}`);
      else assert.ok(from in volumes, `${mount}: the volume is not declared`);
    }
  }
});

test('front and worker are of the image that the Containerfile builds, and share its data folder', () => {
  const [tag] = image.match(/(?<=--tag )\S+/);
  const data = given('--data');
  assert.match(image, new RegExp(`^VOLUME ${data}$`, 'm'));
  const [, port] = given('--listen').split(':');
  for (const { image: from, volumes: mounts } of [services.front, services.worker]) {
    assert.equal(from, `localhost/${tag}`);
    assert.deepEqual(mounts, [`data:${data}`]);
  }
  assert.match(image, new RegExp(`^EXPOSE ${port}$`, 'm'));
  assert.deepEqual(services.front.ports, [`127.0.0.1:${port}:${port}`]);
  // This is the only address a worker listens on, and the image checks its health there.
  assert.match(image, new RegExp(`^HEALTHCHECK .*127\\.0\\.0\\.1/${port} .*GET /readyz`, 'm'));
  assert.equal(services.worker.environment.REFLOAT__SERVER__METRICS_LISTEN, `127.0.0.1:${port}`);
});

test('nats-server gets every variable of its configuration, and is new enough', () => {
  const configuration = read('nats.conf').replace(/^\s*#.*$/gm, '');
  // Subjects begin with a dollar sign too, but stand in quotation marks.
  const wanted = [...configuration.replace(/"[^"]*"/g, '').matchAll(/\$([A-Z_]+)/g)].map(([, name]) => name);
  assert.deepEqual([...new Set(wanted)].sort(), Object.keys(services.nats.environment).sort());
  const [, major, minor] = services.nats.image.match(/:(\d+)\.(\d+)$/).map(Number);
  assert.ok(major === 2 && minor >= 11, services.nats.image);
  const [option, mounted] = services.nats.command;
  assert.equal(option, '--config');
  assert.ok(services.nats.volumes.some((mount) => mount.split(':')[1] === mounted), mounted);
  assert.ok(services.nats.volumes.includes(`messages:${services.nats.environment.NATS_STORE}`));
});

test('the command at the top of the compose file gives every password, to those who use it', () => {
  const passwords = [...new Set([...text.matchAll(/\$\{([A-Z_]+)\}/g)].map(([, name]) => name))];
  const comment = text.slice(0, text.indexOf('\nservices:'));
  for (const name of passwords) assert.ok(comment.includes(`${name}=`), name);
  for (const name of ['front', 'worker']) {
    assert.equal(services[name].environment.REFLOAT__CLUSTER__NATS, `nats://${name}:\${${name.toUpperCase()}_PASSWORD}@nats:4222`);
    assert.match(read('nats.conf'), new RegExp(`user: ${name}\\s+password: \\$${name.toUpperCase()}_PASSWORD`));
  }
});
