import fc from 'fast-check';
import { expect, test } from 'vitest';
import { curseOfEnvelope } from '#indexer/ledger/inscriptions/curse-of-envelope.ts';
import { envelopeFlags } from '#indexer/parse/envelope-flags.ts';
import { curses } from '#kernel/primitives/curse.ts';
import { asTxid } from '#kernel/primitives/hash.ts';
import { inscriptionIdBytes } from '#kernel/primitives/inscription-id.ts';
import {
  type EnvelopeFields,
  idField,
  lengthsOf,
  revealScript,
  revealScriptBytes,
  uncurseFault,
} from '#orders/inscribing/reveal-script.ts';
import { propertyRuns } from '#test/support/property-runs.ts';
import {
  blockOf,
  columnsOf,
  type ReadEnvelope,
  readEnvelopes,
  reveal,
} from '../../indexer/parse/synthetic-block.ts';

const key = new Uint8Array(32).fill(9);
const nothing: EnvelopeFields = {
  contentType: null,
  body: null,
  contentEncoding: null,
  metaprotocol: null,
  metadata: null,
  delegate: null,
  parents: [],
  pointer: null,
  rune: null,
};

const orNull = <T>(value: fc.Arbitrary<T>): fc.Arbitrary<T | null> => fc.option(value, { nil: null });
const bytes = (maxLength: number): fc.Arbitrary<Uint8Array> =>
  fc.oneof(fc.uint8Array({ maxLength: 3 }), fc.uint8Array({ maxLength, size: 'max' }));
const id = fc.record({
  txid: fc.uint8Array({ minLength: 32, maxLength: 32 }).map(asTxid),
  index: fc.oneof(fc.nat(300), fc.nat(2 ** 31 - 1), fc.constantFrom(0, 1, 256, 65_536, 2 ** 24)),
});
const text = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 60 });
const fields: fc.Arbitrary<EnvelopeFields> = fc.record({
  contentType: orNull(text),
  body: orNull(bytes(1700)),
  contentEncoding: orNull(fc.constantFrom('br', 'gzip', 'none')),
  metaprotocol: orNull(text),
  metadata: orNull(bytes(1200)),
  delegate: orNull(id),
  parents: fc.array(id, { maxLength: 3 }),
  pointer: orNull(fc.bigInt({ min: 0n, max: 2n ** 53n - 1n })),
  rune: orNull(fc.uint8Array({ maxLength: 16 })),
});

const read = (script: Uint8Array): ReadEnvelope[] => readEnvelopes(columnsOf(blockOf([reveal(script)])));
const textOf = (value: Buffer | undefined): string | null => value?.toString() ?? null;

const bufferOf = (value: Uint8Array | null): Buffer | null => (value === null ? null : Buffer.from(value));

function expectRead(envelope: ReadEnvelope, fieldsGiven: EnvelopeFields, place: number): void {
  // ord shows the rune that was etched, whatever an envelope claims
  const { rune: _, ...given } = fieldsGiven;
  const { fields: found } = envelope;
  // metadata without bytes is not pushed
  const metadata = given.metadata?.length === 0 ? null : given.metadata;
  const parents = Buffer.concat(given.parents.map((parent) => inscriptionIdBytes(parent)));
  expect({
    contentType: envelope.type?.toString() ?? null,
    body: envelope.content?.body ?? null,
    contentEncoding: textOf(found.contentEncoding),
    metaprotocol: textOf(found.metaprotocol),
    metadata: found.metadata ?? null,
    delegate: found.delegate ?? null,
    parents: found.claimedParents ?? Buffer.alloc(0),
    pointer: envelope.pointer,
  }).toEqual({
    ...given,
    body: bufferOf(given.body),
    metadata: bufferOf(metadata),
    delegate: bufferOf(given.delegate && inscriptionIdBytes(given.delegate)),
    parents,
    pointer: given.pointer === null ? Number.NaN : Number(given.pointer),
  });
  expect(found.unknownFields).toBeUndefined();
  expect(envelope.flags).toBe(flagsOf(given, place));
}

function flagsOf({ parents, metadata, pointer, body }: Omit<EnvelopeFields, 'rune'>, place: number): number {
  const repeats = parents.length > 1 || (metadata?.length ?? 0) > 520;
  return (
    (place > 0 ? envelopeFlags.notAtOffsetZero : 0) |
    (pointer === null ? 0 : envelopeFlags.pointer) |
    (body === null ? 0 : envelopeFlags.body) |
    (repeats ? envelopeFlags.duplicateField : 0)
  );
}

test('the parser reads back the encoded fields, with only the curses of fields and place', () => {
  fc.assert(
    fc.property(fc.array(fields, { minLength: 1, maxLength: 4 }), (envelopes) => {
      const script = revealScript(key, envelopes);
      expect(script.length).toBe(revealScriptBytes(envelopes.map(lengthsOf)));
      const found = read(script);
      expect(found).toHaveLength(envelopes.length);
      for (const [place, envelope] of envelopes.entries()) expectRead(found[place]!, envelope, place);
    }),
    { numRuns: propertyRuns(150) },
  );
});

test('an envelope is uncursed exactly if no fault is named', () => {
  fc.assert(
    fc.property(fields, (given) => {
      const [envelope] = read(revealScript(key, [given]));
      const isUncursed = curseOfEnvelope(envelope!.flags, 0) === curses.none;
      expect(uncurseFault(lengthsOf(given)) === null).toBe(isUncursed);
    }),
    { numRuns: propertyRuns(150) },
  );
});

test.each([0, 1, 2, 16, 17, 75, 76, 255, 256, 519, 520, 521, 1040, 1041])(
  'a body of %i bytes consists only of data pushes',
  (length) => {
    for (const value of [0, 1, 16, 0x81]) {
      const body = new Uint8Array(length).fill(value);
      const [envelope] = read(revealScript(key, [{ ...nothing, body }]));
      expect(envelope?.content?.body).toEqual(Buffer.from(body));
      expect(envelope?.flags).toBe(envelopeFlags.body);
    }
  },
);

test('a reveal begins with its key and OP_CHECKSIG, and an envelope may have no fields', () => {
  const script = revealScript(key, [nothing]);
  expect(Buffer.from(script).toString('hex')).toBe(`20${'09'.repeat(32)}ac0063036f726468`);
});

test('an id is written without trailing zero bytes of its index, as in ord', () => {
  const txid = asTxid(new Uint8Array(32).fill(0));
  const lengths = [0, 1, 255, 256, 65_535, 65_536, 2 ** 24].map((index) => idField({ txid, index }).length);
  expect(lengths).toEqual([32, 33, 33, 34, 34, 35, 36]);
});
