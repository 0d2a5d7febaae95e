import type pg from 'pg';
import { expect, test } from 'vitest';
import { type Candidates, newCandidates, segmentsAtOnce, setIds } from '#search/postgres/candidates.ts';
import { usualTuning } from '#search/postgres/engine-tuning.ts';
import { narrowByPassages } from '#search/postgres/passage-matches.ts';
import { passagesOf } from '#search/seal/passages-builder.ts';
import { PostingsBuilder } from '#search/seal/postings-builder.ts';
import { ByteCache } from '#search/segments/byte-cache.ts';
import { Passages } from '#search/segments/passages.ts';
import type { SealedPart } from '#search/segments/postings-reader.ts';

/** The cache has all parts, so nothing is read. */
const client = null as unknown as pg.ClientBase;

const texts = Array.from({ length: 300 }, (_, at) => Buffer.from(at % 3 === 0 ? 'alike' : 'likely'));

/** The passages of the texts. */
function passagesOfTexts(): Passages {
  const builder = new PostingsBuilder();
  for (const [offset, text] of texts.entries()) builder.add(offset, text);
  const block = passagesOf(
    (each) => {
      for (const [offset, text] of texts.entries()) if (!each(offset, text)) break;
    },
    texts.length,
    100,
    (least) => builder.frequentGrams(least),
  );
  return new Passages(Buffer.from(block as Uint8Array));
}

/** A cache with the passages of all segments. It calls `onGet` before each answer. */
class WatchedCache extends ByteCache<SealedPart> {
  readonly #passages = passagesOfTexts();
  readonly #onGet: () => void;

  constructor(onGet: () => void) {
    super(1);
    this.#onGet = onGet;
  }

  override get(): SealedPart {
    this.#onGet();
    return this.#passages;
  }
}

test('passages of few segments are in memory at once', async () => {
  const segments = Array.from({ length: segmentsAtOnce * 2 + 3 }, (_, segmentId): Candidates => {
    const candidates = newCandidates({ segmentId, firstId: 0, nextId: texts.length, textBytes: 1 });
    setIds(candidates, texts.keys());
    return candidates;
  });
  let read = 0;
  let mostAtOnce = 0;
  const cache = new WatchedCache(() => {
    read++;
    const narrowed = segments.filter(({ count }) => count < texts.length).length;
    mostAtOnce = Math.max(mostAtOnce, read - narrowed);
  });
  const exact = await narrowByPassages(
    { client, cache, tuning: usualTuning, corpus: 'content', budget: { bytesLeft: 0 } },
    segments,
    [Buffer.from('likely')],
  );
  expect(mostAtOnce).toBe(segmentsAtOnce);
  expect(exact.size).toBe(segments.length);
  for (const { count } of segments) expect(count).toBe(200);
});
