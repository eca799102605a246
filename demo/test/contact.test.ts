import type { Contact, Refloat } from 'refloat/client';
import { expect, test } from 'vitest';
import { again, gone, serverAt, type Retrying } from '../src/contact.js';
import { progressOf } from '../src/views/making.js';

const lost: Retrying = { state: 'retrying', attempt: 2, attempts: 4, answered: false };

test('a request that is repeated is counted, and a server that is busy is not taken for one that is gone', () => {
  expect(again(lost)).toBe('The server does not answer: trying again, 2 of 4.');
  expect(again({ ...lost, attempt: 3, answered: true })).toBe('The server is busy: trying again, 3 of 4.');
  expect(gone('begin again')).toMatch(/^Start it again, or check the connection, and begin again\. Your keys/);
});

test('pages hear of every try that comes next, and once the server answers again, of none', () => {
  let tell: ((contact: Contact) => void) | undefined;
  const heard: (Retrying | undefined)[] = [];
  const rf = {
    server: (url: string, options: { readonly onContact: (contact: Contact) => void }) => {
      tell = options.onContact;
      return url;
    },
  } as unknown as Refloat;
  expect(serverAt(rf, 'http://here', (retrying) => heard.push(retrying))).toBe('http://here');
  for (const contact of [lost, { ...lost, attempt: 3 }, { state: 'back' } as const]) tell?.(contact);
  expect(heard).toEqual([lost, { ...lost, attempt: 3 }, undefined]);
});

test('while keys are not taken, their progress gives way to the tries', () => {
  const keys = { busy: 'keys', progress: [500, 1000], problem: undefined } as const;
  const set = { name: 'a-set', keyBytes: 1000 };
  const words = (retrying: Retrying | undefined): string => progressOf({ ...keys, retrying }, set).text;
  expect(words(lost)).toContain('trying again, 2 of 4');
  expect(words(lost)).not.toContain('Making and sending');
  expect(words(undefined)).toContain('Making and sending');
});
