import type pg from 'pg';
import { learnPhrases } from '#search/elastic/phrases/learn-phrases.ts';

/** Contents, spread over the whole chain, that are looked at: on mainnet a third of them is no text. */
const sampleContents = 16_384;
/** Texts of them that are read: what one in a hundred has is in some tens. */
const sampleTexts = 4096;
/** Longer ones are mostly of one kind in all of their length. */
const textBytesMax = 4000;
/** Of fewer texts nothing can be told that holds for those that come. */
const learnedMin = 1000;

/**
 * What most texts of mainnet are made of, for an index that is begun before there are texts to learn from: the operations of
 * BRC-20 and SNS (https://layer1.gitbook.io/layer1-foundation/protocols/brc-20/documentation), and the ends of names.
 */
export const usualPhrases: readonly string[] = [
  '{"p":"brc-20","op":"',
  '","tick":"',
  '","amt":"',
  '{"p":"sns","op":"reg","name":"',
  '.bitmap',
];

/**
 * The phrases of an index that is begun now: learned from the texts that are there, all over the chain, in an order that nobody has chosen;
 * the usual ones where fewer than 1,000 of 16,384 contents are texts.
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

/** A text may be cut within a code point. */
const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
