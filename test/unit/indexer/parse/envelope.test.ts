import { describe, expect, test } from 'vitest';
import { envelopeFlags } from '#indexer/parse/envelope-flags.ts';
import {
  blockOf,
  columnsOf,
  envelopeScript,
  inscriptionScript,
  type ReadEnvelope,
  readEnvelopes,
  reveal,
  tag,
} from './synthetic-block.ts';

const only = (script: Uint8Array): ReadEnvelope => {
  const envelopes = readEnvelopes(columnsOf(blockOf([reveal(script)])));
  expect(envelopes).toHaveLength(1);
  return envelopes[0]!;
};
const id = (index: string): Buffer => Buffer.from('ab'.repeat(32) + index, 'hex');
const has = (envelope: ReadEnvelope, flag: number): boolean => (envelope.flags & flag) !== 0;

describe('fields of an envelope', () => {
  test('keep the first value of a tag; the others are unknown fields', () => {
    const envelope = only(envelopeScript(tag(1), 'a/b', tag(7), 'one', tag(7), 'two', tag(1), 'c/d'));
    expect(envelope.type?.toString()).toBe('a/b');
    expect(envelope.fields.metaprotocol?.toString()).toBe('one');
    expect(envelope.fields.unknownFields?.toString('latin1')).toBe('\x01\x07\x03two\x01\x01\x03c/d');
    expect(has(envelope, envelopeFlags.duplicateField)).toBe(true);
    expect(has(envelope, envelopeFlags.unrecognizedEvenField)).toBe(false);
  });

  test('of metadata are joined, including empty ones and pushed numbers', () => {
    const whole = (...items: (Uint8Array | string)[]): string | undefined =>
      only(envelopeScript(...items)).fields.metadata?.toString('hex');
    const long = Buffer.alloc(100, 0x61);
    expect(whole(tag(5), '', tag(5), '')).toBe('');
    expect(whole(tag(5), '', tag(5), 'a', tag(5), '')).toBe('61');
    expect(whole(tag(5), 'a', tag(7), 'x', tag(5), '', tag(5), long)).toBe(`61${long.toString('hex')}`);
    // the bytes 0105 51 are the tag, and the number 1
    const numbers = Buffer.from('00630 36f7264 010551 01050162 010552 68'.replaceAll(' ', ''), 'hex');
    expect(only(numbers).fields.metadata?.toString('hex')).toBe('016202');
    expect(only(Buffer.from('0063036f726401055168', 'hex')).fields.metadata?.toString('hex')).toBe('01');
  });

  test('that are unknown are kept in order, including values of 253 bytes and more', () => {
    const long = Buffer.alloc(300, 0x61);
    const { fields } = only(envelopeScript(tag(255), 'x', tag(21), long, tag(15), 'a note'));
    expect(fields.note?.toString()).toBe('a note');
    expect(fields.unknownFields?.toString('hex')).toBe(`01ff0178${'0115fd2c01'}${long.toString('hex')}`);
  });

  test('are even and unknown by the first byte of their tag', () => {
    const even = (...items: (Uint8Array | string)[]): boolean =>
      has(only(envelopeScript(...items)), envelopeFlags.unrecognizedEvenField);
    expect(even(tag(4), 'x')).toBe(true);
    expect(even(tag(0), 'x')).toBe(true);
    expect(even(Buffer.from([2, 0]), 'x')).toBe(true);
    expect(even(Buffer.from([1, 2]), 'x')).toBe(false);
    expect(even(tag(2), 'x')).toBe(false);
    expect(even(tag(2), 'x', tag(2), 'y')).toBe(true);
    expect(even(tag(66), 'x')).toBe(true);
    expect(even(tag(4))).toBe(false);
  });

  test('count as duplicates by their whole tag', () => {
    const duplicate = (...items: (Uint8Array | string)[]): boolean =>
      has(only(envelopeScript(...items)), envelopeFlags.duplicateField);
    expect(duplicate(Buffer.from([1, 1]), 'x', Buffer.from([1, 3]), 'x')).toBe(false);
    expect(duplicate(Buffer.from([1, 1]), 'x', Buffer.from([1, 1]), 'x')).toBe(true);
    expect(duplicate(Buffer.from([1, 1]), 'x', tag(1), 'x')).toBe(false);
    expect(duplicate(tag(5), 'x', tag(5), 'x')).toBe(true);
    const many = Array.from({ length: 40 }, (_, index) => [Buffer.from([9, index]), 'x']).flat();
    expect(duplicate(...many)).toBe(false);
    expect(duplicate(...many, Buffer.from([9, 39]), 'y')).toBe(true);
  });

  test('may be pushed as numbers', () => {
    const script = Buffer.concat([
      Buffer.from('0063036f7264', 'hex'),
      // the script: OP_1 "t", OP_2 OP_3, OP_13 OP_1NEGATE, body OP_16 "x"
      Buffer.from('510174' + '5253' + '5d4f' + '00' + '600178' + '68', 'hex'),
    ]);
    const envelope = only(script);
    expect(has(envelope, envelopeFlags.pushnum)).toBe(true);
    expect(envelope.type?.toString()).toBe('t');
    expect(envelope.pointer).toBe(3);
    expect(envelope.fields.rune?.toString('hex')).toBe('81');
    expect(envelope.content?.body.toString('hex')).toBe('1078');
    // a content type that is itself a number
    expect(only(Buffer.from('0063036f7264515168', 'hex')).type?.toString('hex')).toBe('01');
  });

  test.each([
    ['', 0],
    ['00', 0],
    ['0100', 1],
    ['00000000000000ff', Number.NaN],
    ['ffffffffffff1f', 2 ** 53 - 1],
    ['00000000000020', Number.NaN],
    ['01000000000000000000', 1],
    ['010000000000000001', Number.NaN],
  ])('pointer %s', (value, pointer) => {
    const envelope = only(envelopeScript(tag(2), Buffer.from(value, 'hex')));
    expect(envelope.pointer).toBe(pointer);
    expect(envelope.fields.pointer?.toString('hex')).toBe(value);
    expect(has(envelope, envelopeFlags.pointer)).toBe(true);
  });

  test('ids have 32 to 36 bytes, and short indexes do not end in zero', () => {
    const stored = (value: Buffer): string | undefined =>
      only(envelopeScript(tag(11), value))
        .fields.delegate?.subarray(32)
        .toString('hex');
    expect(stored(id(''))).toBe('00000000');
    expect(stored(id('05'))).toBe('05000000');
    expect(stored(id('0001'))).toBe('00010000');
    expect(stored(id('00000000'))).toBe('00000000');
    expect(stored(id('0100'))).toBeUndefined();
    expect(stored(id('0000000000'))).toBeUndefined();
    expect(stored(id('').subarray(1))).toBeUndefined();
  });

  test('parents are claimed in order, with repeats, and invalid ids stay unknown', () => {
    const { fields } = only(
      envelopeScript(tag(3), id('02'), tag(3), id('00'), tag(3), id(''), tag(3), id('02')),
    );
    expect(fields.claimedParents?.length).toBe(3 * 36);
    expect([32, 68, 104].map((at) => fields.claimedParents?.readUInt32LE(at))).toEqual([2, 0, 2]);
    expect(fields.unknownFields?.toString('hex')).toBe(`010321${id('00').toString('hex')}`);
  });

  test('metadata is joined from its chunks', () => {
    const chunks = envelopeScript(tag(5), Buffer.from('a16161', 'hex'), tag(5), Buffer.from('01', 'hex'));
    const envelope = only(chunks);
    expect(envelope.metadata).toBe('{"a":1}');
    expect(envelope.fields.metadata?.toString('hex')).toBe('a1616101');
    expect(has(envelope, envelopeFlags.duplicateField)).toBe(true);
  });

  test('a body is missing, empty or there', () => {
    expect(only(envelopeScript(tag(1), 'a/b')).content).toBeNull();
    expect(only(envelopeScript(tag(1), 'a/b', '')).content?.body).toEqual(Buffer.alloc(0));
    expect(only(envelopeScript(tag(1), 'a/b', '', 'x', '', 'y')).content?.body.toString()).toBe('xy');
  });
});

describe('distinct types and metadata of a block', () => {
  test('are listed once, in the order of appearance', () => {
    const meta = (text: string): Buffer => Buffer.from(text, 'hex');
    const scripts = [
      inscriptionScript('b/c', Buffer.from('1'), tag(5), meta('a1616101')),
      inscriptionScript('a/b', Buffer.from('1'), tag(5), meta('a161611801')),
      inscriptionScript('b/c', Buffer.from('1'), tag(5), meta('0a')),
      inscriptionScript('a/b', Buffer.from('1'), tag(5), meta('a1616101')),
    ];
    const columns = columnsOf(blockOf(scripts.map((script) => reveal(script))));
    expect([...columns.envelopeType]).toEqual([0, 1, 0, 1]);
    expect(columns.typeRange).toHaveLength(4);
    // two encodings of the same value make one text
    expect([...columns.envelopeMetadata]).toEqual([0, 0, 1, 0]);
    expect(columns.metadataRange).toHaveLength(4);
    expect(readEnvelopes(columns).map(({ metadata }) => metadata)).toEqual([
      '{"a":1}',
      '{"a":1}',
      '10',
      '{"a":1}',
    ]);
  });

  test('metadata whose text folding changes has its folded text too', () => {
    const upper = inscriptionScript('a/b', Buffer.from('1'), tag(5), Buffer.from('6141', 'hex'));
    const columns = columnsOf(blockOf([reveal(upper)]));
    const [start = 0, length = 0] = columns.metadataFolded;
    expect(Buffer.from(columns.arena.subarray(start, start + length)).toString()).toBe('"a"');
  });
});
