import type { ClientBase } from 'pg';
import { type InscriptionSummary, inscriptionSummaries } from '#chain/blocks/block.queries.ts';
import { type InscriptionName, inscriptionName } from '#chain/inscriptions/inscription.queries.ts';
import { isPendingInscription } from '#chain/pending/pending.queries.ts';
import { formatInscriptionId, type InscriptionId } from '#kernel/primitives/inscription-id.ts';
import { grouped, sizeWords } from '#web/format.ts';
import { mediaWords } from '#web/media.ts';
import type { Art } from '#web/parts/art-tile.ts';
import type { Detail, Meaning } from './meaning.ts';

/** Meanings of an inscription id, indexed or in the mempool. */
export async function inscriptionIdMeanings(
  client: ClientBase,
  id: InscriptionId,
  detail: Detail,
): Promise<Meaning[]> {
  const why = 'has this id';
  const found = await inscriptionName(client, { kind: 'id', id });
  if (found !== null) return [await inscriptionMeaning(client, found, { why, certainty: 'certain', detail })];
  if (!(await isPendingInscription(client, id))) return [];
  const text = formatInscriptionId(id.txid, id.index);
  return [
    {
      kind: 'inscription',
      label: text,
      path: `/inscription/${text}`,
      why,
      facts: ['in the mempool, in no block yet'],
      art: null,
      certainty: 'certain',
    },
  ];
}

interface Told extends Pick<Meaning, 'why' | 'certainty'> {
  readonly detail: Detail;
}

/** The meaning of an indexed inscription, with its picture for a card. */
export async function inscriptionMeaning(
  client: ClientBase,
  { key, txid, index, number }: InscriptionName,
  { why, certainty, detail }: Told,
): Promise<Meaning> {
  const id = formatInscriptionId(txid, index);
  const [summary] = detail === 'card' ? await inscriptionSummaries(client, [key]) : [];
  return {
    kind: 'inscription',
    label: number === null ? id : `#${grouped(number)}`,
    path: `/inscription/${id}`,
    why,
    facts:
      summary === undefined
        ? []
        : [
            mediaWords(summary.contentType),
            summary.sizeBytes === null ? 'no body' : sizeWords(summary.sizeBytes),
            `block ${grouped(summary.height)}`,
          ],
    art: summary === undefined ? null : { kind: 'tile', tile: tileOf(id, summary) },
    certainty,
  };
}

const tileOf = (id: string, { contentType, text, runs }: InscriptionSummary): Art => ({
  id,
  contentType,
  text,
  runs,
});
