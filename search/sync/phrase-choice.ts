import type pg from 'pg';
import { learnPhrases } from '#search/elastic/learn-phrases.ts';

/** Texts that are read to learn from: of mainnet's, what one in a hundred has is in some tens of them. */
const sampleTexts = 4096;
/** Code points of a text that are read: longer ones are mostly of one kind in all of their length. */
const textLengthMax = 1000;
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

/** The phrases of an index that is begun now: learned from the texts that are there, all over the chain. */
export async function choosePhrases(chain: pg.ClientBase): Promise<readonly string[]> {
  const { rows } = await chain.query<{ text: Buffer }>(
    `SELECT substring(CASE text WHEN 1 THEN body ELSE folded END FOR $2) AS text
       FROM chain.contents
      WHERE text <> 0 AND content_id IN (
        SELECT (id * greatest(1, most.content_id / $1::float8))::integer
          FROM generate_series(0, $1) AS id, (SELECT max(content_id) AS content_id FROM chain.contents) AS most)`,
    [sampleTexts, textLengthMax * 4],
  );
  if (rows.length < learnedMin) return usualPhrases;
  return learnPhrases(rows.map(({ text }) => decoder.decode(text)));
}

/** A text may be cut within a code point. */
const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
