import { afterAll, expect, test } from 'vitest';
import { AnswerReader } from '#node/answer-reader.ts';

const reader = new AnswerReader();
afterAll(() => reader.close());

test('has a block of JSON read by another thread: its bytes go there, and are not here any more', async () => {
  const inputs = Array.from({ length: 3000 }, (_, index) => ({
    prevout: { value: 0.00000546, height: index, scriptPubKey: { hex: '51'.repeat(1000) } },
  }));
  const answer = { result: { tx: [{ vin: [{}] }, { vin: inputs }] }, error: null };
  const bytes = Uint8Array.from(Buffer.from(JSON.stringify(answer)));
  const read = await reader.read('spent-outputs', bytes);
  expect(bytes.byteLength).toBe(0);
  if (read.kind !== 'read') throw new Error(`read as ${read.kind}`);
  expect(read.value.heights).toEqual(Uint32Array.from(inputs.keys()));
  // counts of one byte and of three bytes; each output has its value, its script's length and its script
  expect(read.value.bytes.length).toBe(1 + 1 + 3 + 3000 * (8 + 3 + 1000));
});

test('gives what was wrong as a value: errors do not survive the way between threads', async () => {
  const bytes = Uint8Array.from(Buffer.from('{"result":{"tx":[{}]}}'));
  expect(await reader.read('spent-outputs', bytes)).toMatchObject({
    kind: 'failed',
    code: 'node_answer_invalid',
  });
});
