import type { ClientBase } from 'pg';
import { type InscriptionSummary, inscriptionSummaries } from '#chain/blocks/block.queries.ts';
import { whyBehind } from '#chain/derived/derived-tables.queries.ts';
import { ownAttributes } from '#chain/inscriptions/attributes.queries.ts';
import {
  type InscriptionDetail,
  inscriptionKeys,
  metadataJson,
} from '#chain/inscriptions/inscription.queries.ts';
import { galleryIndex } from '#chain/inscriptions/parents-and-galleries.queries.ts';
import { galleryPage, propertiesHeads, startOfJson } from '#chain/inscriptions/properties.queries.ts';
import { type Reference, referencesOf } from '#chain/inscriptions/recursion.queries.ts';
import { childrenFrom } from '#chain/inscriptions/relative.queries.ts';
import { transfersOf } from '#chain/inscriptions/transfer.queries.ts';
import { builtIndexes } from '#chain/snapshot/built-indexes.ts';
import type { InscriptionParts } from '#http/ord/inscriptions/inscription-views.ts';
import { satributesInForce } from '#http/sats/satributes-in-force.ts';
import { cardOf } from '#http/server/answers/site.ts';
import type { PieceDependencies } from '#http/server/routes/app-dependencies.ts';
import { formatInscriptionId, parseInscriptionId } from '#kernel/primitives/inscription-id.ts';
import type { InscriptionKey } from '#kernel/primitives/inscription-key.ts';
import { type CollectionOfItem, collectionsOf } from '#market/lists/collections-of.store.ts';
import { itemNeighbours } from '#market/lists/item-neighbours.store.ts';
import { pendingSales } from '#market/sales/pending-sales.store.ts';
import { mediaOf } from '#web/media.ts';
import type { ArtStripView } from '#web/parts/art-strip.ts';
import { jsonShownChars } from '#web/parts/record-json.ts';
import { shownSales } from './inscription-sales.ts';
import { timelineOf } from './inscription-timeline.ts';

/** Maximum number of bytes of a content that are searched for references, for the inscription's page. */
const referenceBytes = 256 * 1024;
/**
 * Maximum number of pending sales on the page of an inscription. If there are several, each after the first is a sale
 * by a buyer whose own purchase is still pending.
 */
const pendingSalesShown = 5;
/** Maximum number of newest sales, and of newest transfers, on the page. They fill one or two screens. */
const eventsShown = 20;
/**
 * Maximum number of tiles for each of parents, children and a gallery. With the page's own files, a browser then makes
 * fewer than 60 requests.
 */
const tilesShown = 8;

/** Maximum number of parents in the details of an inscription, as in ord's answer. */
const parentsOfDetail = 4;

/**
 * Everything that the page of an inscription shows in addition to its details. Reading it takes about twelve index
 * lookups.
 */
export async function inscriptionParts(
  client: ClientBase,
  detail: InscriptionDetail,
  deps: PieceDependencies,
): Promise<InscriptionParts> {
  const { json: attributesJson, galleryItems } = await ownAttributes(client, detail.key);
  const relatives = await relativesOf(client, detail, galleryItems);
  const propertiesJson = await shownProperties(client, detail);
  const references = await shownReferences(client, detail);
  const ofItem = { script: null, inscription: detail.id, collection: null };
  const pending = await pendingSales(client, ofItem, null, pendingSalesShown);
  const sales = await shownSales(client, detail.key, deps.network, { limit: eventsShown });
  const newest = { order: 'desc' as const, limit: eventsShown, after: null };
  const transfers = (await transfersOf(client, detail.id, newest))?.transfers ?? [];
  const collections = await shownCollections(client, detail);
  const [collection] = collections ?? [];
  return {
    ...relatives,
    attributesJson,
    propertiesJson,
    metadataJson: await metadataJson(client, detail.key),
    references,
    pendingSales: pending,
    events: timelineOf(transfers, sales, deps.network),
    collections,
    neighbours: collection === undefined ? null : await itemNeighbours(client, detail, collection),
    satributes: satributesInForce(deps),
  };
}

/**
 * Parents, the first children, items of the gallery, and the inscription itself. One read returns the tiles of all
 * these inscriptions.
 */
async function relativesOf(
  client: ClientBase,
  detail: InscriptionDetail,
  galleryItems: number,
): Promise<Pick<InscriptionParts, 'summary' | 'parents' | 'children' | 'gallery'>> {
  const { key, id } = detail;
  const parents = present(await inscriptionKeys(client, detail.parents ?? []));
  const children = detail.children.length === 0 ? [] : await childrenFrom(client, key, 0, tilesShown);
  const items = galleryItems === 0 ? [] : (await galleryPage(client, key, 0)).ids.slice(0, tilesShown);
  const gallery = present(
    await inscriptionKeys(
      client,
      items.flatMap((item) => parseInscriptionId(item) ?? []),
    ),
  );
  const asked = [...new Set([key, ...parents, ...children, ...gallery])];
  const summaries = new Map((await inscriptionSummaries(client, asked)).map((of) => [of.key, of]));
  const summary = summaries.get(key);
  if (summary === undefined) throw new RangeError(`inscription ${key} is not in its own snapshot`);
  const idText = formatInscriptionId(id.txid, id.index);
  const strip = (heading: string, path: string, keys: readonly InscriptionKey[], total: number | null) =>
    stripOf(summaries, { heading, keys, total, href: `/${path}/${idText}` });
  return {
    summary,
    parents:
      detail.parents === null
        ? null
        : strip('Parents', 'parents', parents, parents.length < parentsOfDetail ? parents.length : null),
    children: strip('Children', 'children', children, detail.childCount),
    gallery: strip('Gallery', 'gallery', gallery, galleryItems),
  };
}

const present = (keys: readonly (InscriptionKey | null)[]): InscriptionKey[] =>
  keys.filter((key) => key !== null);

interface Strip extends Pick<ArtStripView, 'heading' | 'total' | 'href'> {
  readonly keys: readonly InscriptionKey[];
}

function stripOf(
  summaries: ReadonlyMap<InscriptionKey, InscriptionSummary>,
  { heading, keys, total, href }: Strip,
): ArtStripView {
  const cards = keys.flatMap((key) => summaries.get(key) ?? []).map(cardOf);
  return { heading, cards, total, href };
}

/** The JSON of the properties that the page shows. */
async function shownProperties(client: ClientBase, { key }: InscriptionDetail): Promise<string | null> {
  const head = (await propertiesHeads(client, [key])).get(key);
  return head === undefined ? null : startOfJson(client, head, jsonShownChars + 1);
}

/**
 * Collections of an inscription. Null while galleries are being indexed. This read changes how Postgres plans later
 * statements of the same transaction.
 */
async function shownCollections(
  client: ClientBase,
  { id }: InscriptionDetail,
): Promise<readonly CollectionOfItem[] | null> {
  const built = await builtIndexes(client, [galleryIndex]);
  if (!built.has(galleryIndex) || (await whyBehind(client, 'properties')) !== null) return null;
  return collectionsOf(client, id);
}

/** The inscriptions that the content refers to, if browsers run content of its type. */
async function shownReferences(
  client: ClientBase,
  { contentId, contentType }: InscriptionDetail,
): Promise<readonly Reference[]> {
  if (contentId === null || mediaOf(contentType) !== 'frame') return [];
  return (await referencesOf(client, [contentId], referenceBytes)).get(contentId) ?? [];
}
