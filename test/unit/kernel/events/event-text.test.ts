import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { inscriptionKind } from '#kernel/events/event-kind.ts';
import { EventTextWriter } from '#kernel/events/event-text-writer.ts';
import { parseEventText, parseInscriptionLine } from '#kernel/events/parse-event-text.ts';
import { asBlockHash, displayHash } from '#kernel/primitives/hash.ts';
import { asHeight } from '#kernel/primitives/height.ts';
import { propertyRuns } from '#test/support/property-runs.ts';

const hash = fc.uint8Array({ minLength: 32, maxLength: 32 });
const index = fc.oneof(fc.nat(20), fc.nat(2 ** 31 - 1));
const orUnknown = <T>(values: fc.Arbitrary<T>): fc.Arbitrary<T | null> =>
  fc.option(values, { freq: 5, nil: null });
const place = fc.oneof(
  fc.record({
    kind: fc.constant('output' as const),
    txid: hash,
    vout: fc.oneof(fc.nat(3), fc.constant(0xffff_fffe)),
    offset: fc.nat(2_100_000_000_000_000),
  }),
  fc.constant({ kind: 'lost' as const }),
  fc.constant({ kind: 'unbound' as const }),
  fc.constant({ kind: 'unknown' as const }),
);
const id = fc.record({ txid: hash, index });
const event = fc.oneof(
  fc.record({
    kind: fc.constant('created' as const),
    id,
    sequence: orUnknown(fc.nat(2 ** 31 - 1)),
    number: orUnknown(fc.integer()),
    charms: orUnknown(fc.nat(0x3fff)),
    place,
    parents: orUnknown(fc.array(id, { maxLength: 40 })),
  }),
  fc.record({
    kind: fc.constant('transferred' as const),
    id,
    sequence: orUnknown(fc.nat(2 ** 31 - 1)),
    from: place,
    place,
  }),
);
type Event = typeof event extends fc.Arbitrary<infer T> ? T : never;
type Place = typeof place extends fc.Arbitrary<infer T> ? T : never;
type Id = typeof id extends fc.Arbitrary<infer T> ? T : never;

function writePlace(out: EventTextWriter, at: Place): void {
  if (at.kind === 'output') out.inOutput(at.txid, 0, at.vout, at.offset);
  else if (at.kind === 'lost') out.lost();
  else if (at.kind === 'unbound') out.none();
  else out.unknown();
}

function write(out: EventTextWriter, one: Event): void {
  if (one.kind === 'transferred') {
    out.transferred(one.id.txid, 0, one.id.index, one.sequence);
    writePlace(out, one.from);
    out.next();
    writePlace(out, one.place);
    out.endLine();
    return;
  }
  out.created(one.id.txid, 0, one.id.index, one.sequence, one.number, one.charms);
  writePlace(out, one.place);
  out.next();
  if (one.parents === null) out.unknown();
  else if (one.parents.length === 0) out.none();
  else one.parents.forEach((parent, at) => out.parent(at, parent.txid, 0, parent.index));
  out.endLine();
}

const shownId = ({ txid, index: at }: Id): string => `${displayHash(txid)}i${at}`;
const shownPlace = (at: Place): string => {
  if (at.kind === 'output') return `${displayHash(at.txid)}:${at.vout}:${at.offset}`;
  return { lost: `${'0'.repeat(64)}:4294967295`, unbound: '-', unknown: '?' }[at.kind];
};
// Bits of the charms: 2 cursed, 16 lost, 128 reinscription, 256 unbound, 1024 vindicated, 4096 burned.
const charmsShown = 0b1_0101_1001_0010;

function line(one: Event): string {
  const subject = `${shownId(one.id)} ${one.sequence ?? '?'}`;
  if (one.kind === 'transferred')
    return `transferred ${subject} ${shownPlace(one.from)} ${shownPlace(one.place)}\n`;
  const charms = one.charms === null ? '?' : one.charms & charmsShown;
  const parents = one.parents === null ? '?' : one.parents.map(shownId).join(',') || '-';
  return `created ${subject} ${one.number ?? '?'} ${charms} ${shownPlace(one.place)} ${parents}\n`;
}

describe('the canonical text', () => {
  test('is its lines, however many chunks they take, and its hash', () => {
    const out = new EventTextWriter();
    fc.assert(
      fc.property(
        fc.array(event, { minLength: 1, maxLength: 30 }),
        fc.integer({ min: 1, max: 120 }),
        fc.nat(2 ** 31 - 1),
        hash,
        (events, times, height, blockHash) => {
          out.begin(
            inscriptionKind,
            'mainnet',
            { height: asHeight(height), hash: asBlockHash(blockHash) },
            true,
          );
          let expected = `satscribe inscriptions 1 mainnet ${height} ${displayHash(blockHash)}\n`;
          for (let time = 0; time < times; time++) {
            for (const one of events) {
              write(out, one);
              expected += line(one);
            }
          }
          const { text, sizeBytes, sha256 } = out.finish();
          expect(text?.toString('latin1')).toBe(expected);
          expect(sizeBytes).toBe(expected.length);
          expect(sha256.toString('hex')).toBe(createHash('sha256').update(expected).digest('hex'));
        },
      ),
      { numRuns: propertyRuns(20) },
    );
  });

  test('has the same hash if it is not kept, or too long for that', () => {
    const out = new EventTextWriter();
    const txid = new Uint8Array(32).fill(0xab);
    const sizes = [1, 250_000].map((count) =>
      [true, false].map((keep) => {
        out.begin(inscriptionKind, 'regtest', { height: asHeight(7), hash: asBlockHash(txid) }, keep);
        for (let at = 0; at < count; at++) {
          out.transferred(txid, 0, at, at);
          out.lost();
          out.next();
          out.lost();
          out.endLine();
        }
        const { text, sha256, sizeBytes } = out.finish();
        return { isKept: text !== null, sha256: sha256.toString('hex'), sizeBytes };
      }),
    );
    const [short, long] = sizes as [(typeof sizes)[0], (typeof sizes)[0]];
    expect(short!.map(({ isKept }) => isKept)).toEqual([true, false]);
    // the text is longer than 32 MiB, so it is not kept
    expect(long!.map(({ isKept }) => isKept)).toEqual([false, false]);
    expect(long![0]!.sizeBytes).toBeGreaterThan(32 * 1024 * 1024);
    for (const [kept, left] of [short!, long!]) expect(kept!.sha256).toBe(left!.sha256);
  });
});

describe('a parsed text', () => {
  test('has every event under its index, from any index on', () => {
    const out = new EventTextWriter();
    fc.assert(
      fc.property(fc.array(event, { maxLength: 12 }), fc.nat(14), (events, from) => {
        out.begin(
          inscriptionKind,
          'signet',
          { height: asHeight(1), hash: asBlockHash(new Uint8Array(32)) },
          true,
        );
        for (const one of events) write(out, one);
        const parsed = [...parseEventText(out.finish().text!, from, parseInscriptionLine)];
        const expected = events.map((one, at) => [at + 1, one] as const).filter(([at]) => at >= from);
        expect(parsed.map(([at]) => at)).toEqual(expected.map(([at]) => at));
        for (const [row, [, one]] of expected.entries()) {
          const place_ = (at: Place): string | null =>
            at.kind === 'unknown' ? null : at.kind === 'unbound' ? 'unbound' : shownPlace(at);
          const common = { inscriptionId: shownId(one.id), sequence: one.sequence };
          expect(parsed[row]![1]).toMatchObject(
            one.kind === 'transferred'
              ? {
                  type: 'inscription-transferred',
                  ...common,
                  oldLocation: place_(one.from),
                  newLocation: place_(one.place),
                }
              : {
                  type: 'inscription-created',
                  ...common,
                  number: one.number,
                  location: place_(one.place),
                  parents: one.parents?.map(shownId) ?? null,
                },
          );
        }
      }),
      { numRuns: propertyRuns(60) },
    );
  });

  test.each([
    'satscribe inscriptions 1 regtest 1 00\ncreated a 1\n',
    'satscribe inscriptions 1 regtest 1 00\nburned a 1 2 3\n',
    'satscribe inscriptions 1 regtest 1 00\ntransferred a 1 2 3',
  ])('of another form throws: %j', (text) => {
    expect(() => [...parseEventText(Buffer.from(text), 0, parseInscriptionLine)]).toThrow(RangeError);
  });
});
