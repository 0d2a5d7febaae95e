import fc from 'fast-check';
import { expect, test } from 'vitest';
import { ZmqReader } from '#node/zmq-frames.ts';

const display = Buffer.from('00'.repeat(28) + '01020304', 'hex');
const internal = Uint8Array.from(display).reverse();

const count = (number: number): Buffer => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(number);
  return bytes;
};
const sequence = (letter: string, tail: Uint8Array = Buffer.alloc(0), number = 0): Buffer[] => [
  Buffer.from('sequence'),
  Buffer.concat([display, Buffer.from(letter), tail]),
  count(number),
];
const mempoolCount = Buffer.from('0807060504030201', 'hex');

test.each([
  ['C', 'block-connected'],
  ['D', 'block-disconnected'],
])('reads %s of sequence as %s, the hash turned to internal order', (letter, kind) => {
  expect(new ZmqReader('sequence').read(sequence(letter))).toEqual([{ kind, hash: internal }]);
});

test.each([
  ['A', 'mempool-added'],
  ['R', 'mempool-removed'],
])('reads %s of sequence as %s with the count of the mempool', (letter, kind) => {
  expect(new ZmqReader('sequence').read(sequence(letter, mempoolCount))).toEqual([
    { kind, txid: internal, mempoolSequence: 0x0102030405060708n },
  ]);
});

test('reads transactions as they are', () => {
  const bytes = Buffer.from('0200', 'hex');
  expect(new ZmqReader('sequence').read([Buffer.from('rawtx'), bytes, count(0)])).toEqual([
    { kind: 'transaction', bytes },
  ]);
});

test('takes blocks from hashblock only where sequence does not say them', () => {
  const frames = [Buffer.from('hashblock'), display, count(0)];
  expect(new ZmqReader('hashblock').read(frames)).toEqual([{ kind: 'block-connected', hash: internal }]);
  expect(new ZmqReader('sequence').read(frames)).toEqual([]);
});

test('says that messages are missing, before the one that shows it, and only of that topic', () => {
  const reader = new ZmqReader('sequence');
  const kinds = (frames: readonly Buffer[]): string[] => reader.read(frames).map(({ kind }) => kind);
  expect(kinds(sequence('C', undefined, 7))).toEqual(['block-connected']);
  expect(kinds(sequence('C', undefined, 8))).toEqual(['block-connected']);
  expect(reader.read(sequence('C', undefined, 10))[0]).toEqual({ kind: 'gap', topic: 'sequence' });
  expect(kinds([Buffer.from('rawtx'), Buffer.alloc(1), count(3)])).toEqual(['transaction']);
  expect(kinds(sequence('C', undefined, 11))).toEqual(['block-connected']);
  // a node that was restarted counts from 0
  expect(kinds(sequence('C', undefined, 0))).toEqual(['gap', 'block-connected']);
});

test('counts over the end of 32 bits', () => {
  const reader = new ZmqReader('sequence');
  reader.read(sequence('C', undefined, 2 ** 32 - 1));
  expect(reader.read(sequence('C', undefined, 0)).map(({ kind }) => kind)).toEqual(['block-connected']);
});

test('restarts its counters after a new connection', () => {
  const reader = new ZmqReader('sequence');
  reader.read(sequence('C', undefined, 5));
  reader.reset();
  expect(reader.read(sequence('C', undefined, 0)).map(({ kind }) => kind)).toEqual(['block-connected']);
});

test('takes any frames for a message, a gap or nothing', () => {
  const topic = fc.oneof(
    fc
      .constantFrom('sequence', 'rawtx', 'hashblock', 'hashtx')
      .map((name) => Uint8Array.from(Buffer.from(name))),
    fc.uint8Array({ maxLength: 12 }),
  );
  fc.assert(
    fc.property(topic, fc.array(fc.uint8Array({ maxLength: 50 }), { maxLength: 3 }), (name, rest) => {
      for (const message of new ZmqReader('sequence').read([name, ...rest])) {
        if ('hash' in message) expect(message.hash.length).toBe(32);
        if ('txid' in message) expect(message.txid.length).toBe(32);
      }
    }),
  );
  expect(new ZmqReader('sequence').read([])).toEqual([]);
  expect(new ZmqReader('sequence').read([Buffer.from('sequence')])).toEqual([
    { kind: 'gap', topic: 'sequence' },
  ]);
});
