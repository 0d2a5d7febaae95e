import { describe, expect, test } from 'vitest';
import { type AnswerKind, readAnswer } from '#node/large-answers.ts';

function bytesOf(answer: unknown): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(Buffer.from(typeof answer === 'string' ? answer : JSON.stringify(answer)));
}

const read = (kind: AnswerKind, answer: unknown): ReturnType<typeof readAnswer> =>
  readAnswer({ kind, bytes: bytesOf(answer) });

const id = (byte: string): string => `${byte.repeat(31)}01`;

describe('the ids of a mempool', () => {
  test('come in internal order, with the number of the next change', () => {
    const answer = { result: { txids: [id('aa'), id('bb')], mempool_sequence: 17 }, error: null };
    const txids = Uint8Array.from(Buffer.from(`01${'aa'.repeat(31)}01${'bb'.repeat(31)}`, 'hex'));
    expect(read('mempool', answer)).toEqual({ kind: 'read', value: { txids, sequence: 17 } });
  });

  test.each([
    ['no list', { result: { mempool_sequence: 1 } }],
    ['no number', { result: { txids: [] } }],
    ['an id that is too short', { result: { txids: ['aa'], mempool_sequence: 1 } }],
    ['an id that is no hex', { result: { txids: ['zz'.repeat(32)], mempool_sequence: 1 } }],
  ])('are refused with %s', (_, answer) => {
    expect(read('mempool', answer)).toMatchObject({ kind: 'failed', code: 'node_answer_invalid' });
  });
});

describe('a batch of results in hex', () => {
  test('gives each result, and the error of each that has none', () => {
    const answer = [
      { result: 'aabb', error: null },
      { result: null, error: { code: -5, message: 'No such mempool transaction' } },
      { result: 'cc', error: null },
    ];
    expect(read('hex-batch', answer)).toEqual({
      kind: 'read',
      value: {
        bytes: Uint8Array.of(0xaa, 0xbb, 0xcc),
        ends: Uint32Array.of(2, 2, 3),
        errors: Int32Array.of(0, -5, 0),
      },
    });
  });

  test('is the one error of all where the node is starting', () => {
    expect(read('hex-batch', { result: null, error: { code: -28, message: 'Loading…' } })).toEqual({
      kind: 'refused',
      rpcCode: -28,
      message: 'Loading…',
    });
  });

  test.each([
    ['no hex', [{ result: 'xy' }]],
    ['half a byte', [{ result: 'abc' }]],
    ['a number', [{ result: 7 }]],
    ['neither result nor error', [{}]],
    ['one answer for many calls', { result: 'aa' }],
  ])('is refused with %s', (_, answer) => {
    expect(read('hex-batch', answer)).toMatchObject({ kind: 'failed', code: 'node_answer_invalid' });
  });
});

describe('an invalid answer', () => {
  test.each(['', 'Work queue depth exceeded', 'null', '7', '[1', { result: null }])(
    'is refused: %j',
    (answer) => {
      expect(read('spent-outputs', answer)).toMatchObject({ kind: 'refused', rpcCode: 0 });
    },
  );

  test('says what the node said', () => {
    const answer = { result: null, error: { code: -5, message: 'Block not found' } };
    expect(read('spent-outputs', answer)).toEqual({
      kind: 'refused',
      rpcCode: -5,
      message: 'Block not found',
    });
  });

  test('is invalid where a block does not say what it spends', () => {
    expect(read('spent-outputs', { result: { tx: [{}] } })).toMatchObject({
      kind: 'failed',
      code: 'node_answer_invalid',
    });
  });
});
