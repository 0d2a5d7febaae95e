import type { ClientBase } from 'pg';
import { blockAt } from '#chain/blocks/block.queries.ts';
import { inscriptionDetail } from '#chain/inscriptions/inscription.queries.ts';
import { runeDetail } from '#chain/runes/rune.queries.ts';
import { requireRunes } from '#chain/runes/rune-standing.queries.ts';
import { requireSatIndex } from '#http/ord/sats/sat-answer.ts';
import { blockQuestionOf, inscriptionQuestionOf, runeQuestionOf } from '#http/parameters/path-parameters.ts';
import type { CardOrder } from '#http/thumbnails/drawing.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import type { InscriptionId } from '#kernel/primitives/inscription-id.ts';
import { formatSpacedRune } from '#kernel/runes/spaced-rune.ts';
import { findMarketCollection } from '#market/collections/market-slug.store.ts';
import { listedItems } from '#market/lists/item-holder-lists.ts';
import { grouped, plural, sizeWords, timeWords } from '#web/format.ts';
import { mediaWords } from '#web/media.ts';

/** The texts of a picture, and the inscription whose thumbnail is in the picture. */
export interface PictureFacts extends Pick<CardOrder, 'head' | 'title' | 'lines'> {
  readonly art: InscriptionId | null;
}

/** Reads facts of the subject that a path names. `null` if the subject does not exist. Throws `request_invalid`. */
type Reader = (client: ClientBase, name: string) => Promise<PictureFacts | null>;

const block: Reader = async (client, name) => {
  const found = await blockAt(client, blockQuestionOf(name));
  if (found === null) return null;
  const { height, inscriptionCount, txCount, sizeBytes, time } = found;
  return {
    head: 'Block',
    title: grouped(height),
    lines: [
      plural(inscriptionCount, 'inscription'),
      `${plural(txCount, 'transaction')}, ${sizeWords(sizeBytes)}`,
      timeWords(time),
    ],
    art: null,
  };
};

const inscription: Reader = async (client, name) => {
  const question = inscriptionQuestionOf(name);
  if (question.kind === 'sat') await requireSatIndex(client);
  const found = await inscriptionDetail(client, question);
  if (found === null) return null;
  const { id, number, height, timestamp, effectiveContentType, contentLength } = found;
  const size = contentLength === null ? '' : `, ${sizeWords(contentLength)}`;
  return {
    head: 'Inscription',
    title: number === null ? 'without a number yet' : `#${grouped(number)}`,
    lines: [`${mediaWords(effectiveContentType)}${size}`, `block ${grouped(height)}`, timeWords(timestamp)],
    art: id,
  };
};

const rune: Reader = async (client, name) => {
  await requireRunes(client);
  const found = await runeDetail(client, runeQuestionOf(name));
  if (found === null) return null;
  return {
    head: 'Rune',
    title: formatSpacedRune(found),
    lines: [
      `number ${grouped(found.key)}`,
      plural(found.mints, 'mint'),
      `etched ${timeWords(found.timestamp)}`,
    ],
    art: null,
  };
};

const collection: Reader = async (client, name) => {
  const found = await findMarketCollection(client, name);
  if (found === null) return null;
  return {
    head: 'Collection',
    title: found.name,
    lines: [plural(listedItems(found), 'item')],
    art: found.icon,
  };
};

/** The readers by the kind of subject in a page's path. */
const readers: ReadonlyMap<string, Reader> = new Map([
  ['block', block],
  ['inscription', inscription],
  ['rune', rune],
  ['collection', collection],
]);

export const pictureKinds: readonly string[] = [...readers.keys()];

/** Facts of a subject. Throws `not_found`, and the errors of the readers. */
export async function pictureFacts(client: ClientBase, kind: string, name: string): Promise<PictureFacts> {
  const found = (await readers.get(kind)?.(client, name)) ?? null;
  if (found === null) throw new AppError('not_found', `there is no such ${kind}`);
  return found;
}

/** Texts of pages without a subject. */
export const siteFacts: PictureFacts = {
  head: 'Satscribe',
  title: 'Everything inscribed, word for word.',
  lines: ['Inscriptions, runes, sats and sales of Bitcoin'],
  art: null,
};
