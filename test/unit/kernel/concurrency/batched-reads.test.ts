import { expect, test, vi } from 'vitest';
import { BatchedReads } from '#kernel/concurrency/batched-reads.ts';

interface Batch {
  readonly questions: readonly number[];
  readonly signal: AbortSignal;
  readonly end: () => void;
  readonly fail: (error: Error) => void;
}

/** Batched reads that answer each number with its double. A test decides when each batch ends. */
function reading(batches = 2, questions = 3): { reads: BatchedReads<number, number>; begun: Batch[] } {
  const begun: Batch[] = [];
  const read = (asked: readonly number[], signal: AbortSignal): Promise<number[]> =>
    new Promise((resolve, fail) => {
      begun.push({ questions: asked, signal, end: () => resolve(asked.map((number) => number * 2)), fail });
    });
  return { reads: new BatchedReads(read, { batches, questions }), begun };
}

const here = new AbortController().signal;
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test('questions of one turn are read together; later ones form the next batch', async () => {
  const { reads, begun } = reading(1);
  const first = Promise.all([reads.ask(1, here), reads.ask(2, here)]);
  await turn();
  const later = Promise.all([3, 4, 5, 6].map((number) => reads.ask(number, here)));
  await turn();
  expect(begun.map(({ questions }) => questions)).toEqual([[1, 2]]);
  begun[0]!.end();
  expect(await first).toEqual([2, 4]);
  await vi.waitFor(() => expect(begun[1]?.questions).toEqual([3, 4, 5]));
  begun[1]!.end();
  await vi.waitFor(() => expect(begun[2]?.questions).toEqual([6]));
  begun[2]!.end();
  expect(await later).toEqual([6, 8, 10, 12]);
});

test('at most the given number of batches are read at once', async () => {
  const { reads, begun } = reading(2, 1);
  const answers = Promise.all([1, 2, 3].map((number) => reads.ask(number, here)));
  await vi.waitFor(() => expect(begun).toHaveLength(2));
  await turn();
  expect(begun).toHaveLength(2);
  for (const { end } of begun) end();
  await vi.waitFor(() => expect(begun).toHaveLength(3));
  begun[2]!.end();
  expect(await answers).toEqual([2, 4, 6]);
});

test('a failure concerns only its own batch, and the next one is read', async () => {
  const { reads, begun } = reading(1, 2);
  const first = Promise.allSettled([reads.ask(1, here), reads.ask(2, here)]);
  const second = reads.ask(3, here);
  await vi.waitFor(() => expect(begun).toHaveLength(1));
  begun[0]!.fail(new Error('lost'));
  expect((await first).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  await vi.waitFor(() => expect(begun).toHaveLength(2));
  begun[1]!.end();
  expect(await second).toBe(6);
});

test('a question whose asker has left is not read', async () => {
  const { reads, begun } = reading(1);
  const leaving = new AbortController();
  const left = reads.ask(1, leaving.signal);
  const stayed = reads.ask(2, here);
  leaving.abort(new Error('gone'));
  await expect(left).rejects.toThrow('gone');
  await vi.waitFor(() => expect(begun[0]?.questions).toEqual([2]));
  begun[0]!.end();
  expect(await stayed).toBe(4);
});

test('a batch is given up once all askers have left, and not before', async () => {
  const { reads, begun } = reading(1);
  const [one, other] = [new AbortController(), new AbortController()];
  const asked = Promise.allSettled([reads.ask(1, one.signal), reads.ask(2, other.signal)]);
  await vi.waitFor(() => expect(begun).toHaveLength(1));
  one.abort(new Error('gone'));
  expect(begun[0]!.signal.aborted).toBe(false);
  other.abort(new Error('gone too'));
  expect(begun[0]!.signal.aborted).toBe(true);
  begun[0]!.fail(new Error('cut'));
  expect((await asked).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
});

test('a missing answer refuses all questions, and none gets another’s answer', async () => {
  const reads = new BatchedReads<number, number>(async (asked) => asked.slice(1), {
    batches: 1,
    questions: 9,
  });
  const asked = await Promise.allSettled([reads.ask(1, here), reads.ask(2, here)]);
  expect(asked.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
});
