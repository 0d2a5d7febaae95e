import { randomBytes } from 'node:crypto';
import { get, pick, post, type Scenario } from '#test/attack/scenario.ts';

const mebibyte = 1024 * 1024;
/** Maximum size of a list of ids in bytes. Ord accepts such lists without a key. */
const largestBody = 32 * mebibyte;

const listPaths = ['/missing', '/inscriptions', '/outputs'];

function idsBody(bytes: number): string {
  const ids = Array.from(
    { length: Math.floor(bytes / 69) },
    (_, index) => `"${index.toString(16).padStart(64, '0')}i0"`,
  );
  return `[${ids.join(',')}]`;
}

/**
 * A list of distinct small objects. Their number is the maximum that the bound on brackets, commas and colons allows.
 */
function distinctObjects(): string {
  return `[${Array.from({ length: 240_000 }, (_, index) => `{"k${index}":1}`).join(',')}]`;
}

const hashesBody = (): string =>
  JSON.stringify({ hashes: Array.from({ length: 10_000 }, () => randomBytes(32).toString('hex')) });

/** Attacks with bodies of requests. A body costs memory while it arrives, and time when it is parsed. */
export const bodyScenarios: readonly Scenario[] = [
  {
    name: 'bodies-large',
    what: 'lists of ids of 32 MiB, six at once',
    run: async (attack) => {
      const body = idsBody(largestBody - mebibyte);
      await attack.loops(6, async () => attack.exchange(post(pick(attack, listPaths), body)));
    },
  },
  {
    name: 'bodies-unfinished',
    what: '60 uploads of 32 MiB that stop before their last byte',
    run: async (attack) => {
      const unfinished = post('/missing', idsBody(largestBody - mebibyte).slice(0, -1), {}, largestBody);
      await attack.hold(60, unfinished);
    },
  },
  {
    name: 'bodies-objects',
    what: 'arrays of 240,000 distinct small objects',
    run: async (attack) => {
      const body = distinctObjects();
      await attack.loops(6, async () => attack.exchange(post(pick(attack, listPaths), body)));
    },
  },
  {
    name: 'bodies-deep',
    what: 'a megabyte of opening brackets',
    run: async (attack) => {
      const deep = '['.repeat(mebibyte - 1000);
      const paths = ['/search/hashes', ...listPaths];
      await attack.loops(10, async () => attack.exchange(post(pick(attack, paths), deep)));
    },
  },
  {
    name: 'bodies-slow',
    what: '300 uploads of a byte a second',
    run: async (attack) => {
      const begun = post('/missing', '[', {}, mebibyte);
      await attack.loops(300, async () => {
        const socket = attack.connect();
        socket.write(begun);
        while (!attack.isOver && !socket.destroyed) {
          await attack.pause(1000);
          socket.write(' ');
        }
        socket.destroy();
      });
    },
  },
  {
    name: 'bodies-chunks',
    what: 'bodies in chunks of one byte each',
    run: async (attack) => {
      const head = get(
        '/missing',
        { 'content-type': 'application/json', 'transfer-encoding': 'chunked' },
        'POST',
      );
      const chunked = Buffer.concat([
        head,
        Buffer.from('1\r\n \r\n'.repeat(200_000)),
        Buffer.from('0\r\n\r\n'),
      ]);
      await attack.loops(10, async () => attack.exchange(chunked));
    },
  },
  {
    name: 'hashes-many',
    what: 'lists of 10,000 unknown hashes, 50 at once',
    run: (attack) => attack.loops(50, async () => attack.exchange(post('/search/hashes', hashesBody()))),
  },
  {
    name: 'forms-large',
    what: 'forms of 20,000 fields with nested names',
    run: async (attack) => {
      const fields = Array.from({ length: 20_000 }, (_, index) => `k[${index}][a][b]=1`).join('&');
      const form = post('/key', fields, { 'content-type': 'application/x-www-form-urlencoded' });
      await attack.loops(10, async () => attack.exchange(form));
    },
  },
];
