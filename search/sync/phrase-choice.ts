import type pg from 'pg';
import { learnPhrases } from '#search/elastic/phrases/learn-phrases.ts';

/** Number of contents in the sample, spread over the whole chain. On mainnet a third of them are not texts. */
const sampleContents = 16_384;
/**
 * Maximum number of texts read from the sample. A phrase that is in one of a hundred texts occurs some tens of times.
 */
const sampleTexts = 4096;
/** Maximum bytes read from each text. Longer texts are mostly uniform. */
const textBytesMax = 4000;
/** Minimum number of texts to learn from. Fewer texts show nothing about later ones. */
const learnedMin = 1000;

/**
 * Common parts of most texts of mainnet, for an index that is created before there are texts to learn from: operations
 * of BRC-20 and SNS (https://layer1.gitbook.io/layer1-foundation/protocols/brc-20/documentation), and the ends of
 * names.
 */
export const usualPhrases: readonly string[] = [
  '{"p":"brc-20","op":"',
  '","tick":"',
  '","amt":"',
  '{"p":"sns","op":"reg","name":"',
  '.bitmap',
];

/**
 * The phrases of a new index: learned from existing texts all over the chain, in a pseudo-random order. If fewer than
 * 1,000 of 16,384 contents are texts, the usual phrases are taken.
 */
export async function choosePhrases(chain: pg.ClientBase, signal: AbortSignal): Promise<readonly string[]> {
  const { rows } = await chain.query<{ text: Buffer }>(
    `SELECT substring(CASE text WHEN 1 THEN body ELSE folded END FOR $3) AS text
       FROM chain.contents
      WHERE text <> 0 AND content_id IN (
        SELECT (id * greatest(1, most.content_id / $1::float8))::integer
          FROM generate_series(0, $1) AS id, (SELECT max(content_id) AS content_id FROM chain.contents) AS most)
      ORDER BY sha256 LIMIT $2`,
    [sampleContents, sampleTexts, textBytesMax],
  );
  if (rows.length < learnedMin) return usualPhrases;
  return learnPhrases(
    rows.map(({ text }) => decoder.decode(text)),
    signal,
  );
}

/** Decodes a text that may be cut within a code point. */
const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
