import type { InscriptionSummary } from '#chain/blocks/block.queries.ts';
import type { InscriptionDetail } from '#chain/inscriptions/inscription.queries.ts';
import type { Reference } from '#chain/inscriptions/recursion.queries.ts';
import { satributeNames } from '#http/sats/satribute-views.ts';
import { scriptToAddress } from '#kernel/bitcoin/address.ts';
import { charmNames } from '#kernel/primitives/charm.ts';
import { curseName } from '#kernel/primitives/curse.ts';
import { displayHash } from '#kernel/primitives/hash.ts';
import { formatInscriptionId, type InscriptionId } from '#kernel/primitives/inscription-id.ts';
import type { NetworkParameters } from '#kernel/primitives/network.ts';
import { formatSpacedRune } from '#kernel/runes/spaced-rune.ts';
import type { SatributeBook } from '#kernel/satributes/satribute-book.ts';
import type { ItemNeighbours } from '#market/lists/item-neighbours.store.ts';
import type { PendingSale } from '#market/sales/pending-sales.store.ts';
import type { Site } from '#web/layout.ts';
import type { InscriptionView } from '#web/pages/inscription.page.ts';
import { titleAndTraits } from '#web/titles-and-traits.ts';
import { burnMetadataJson } from './burn-metadata.ts';

const idText = ({ txid, index }: InscriptionId): string => formatInscriptionId(txid, index);
const idOrNull = (id: InscriptionId | null): string | null => (id === null ? null : idText(id));

/** The JSON, in ord's form, of the properties of an inscription without properties. */
const noProperties = '{"gallery":[],"attributes":{"title":null,"traits":{}}}';

/**
 * The JSON of ord's `/inscription`, with the keys in ord's order. Unknown fields are null (docs/ord-api.md).
 *
 * @param properties a JSON text, because traits can be integers that a JavaScript number would round; null if the
 *   inscription has no properties
 */
export function inscriptionJson(
  detail: InscriptionDetail,
  properties: string | null,
  network: NetworkParameters,
): string {
  return `${beforeProperties(detail, network)}${properties ?? noProperties}${afterProperties(detail)}`;
}

/** The JSON of `inscriptionJson` in pieces. */
export async function* inscriptionPieces(
  detail: InscriptionDetail,
  properties: AsyncIterable<string | Buffer>,
  network: NetworkParameters,
): AsyncGenerator<string | Buffer> {
  yield beforeProperties(detail, network);
  yield* properties;
  yield afterProperties(detail);
}

function beforeProperties(detail: InscriptionDetail, network: NetworkParameters): string {
  const fields = JSON.stringify({
    address: addressOf(detail, network),
    charms: detail.charms === null ? null : charmNames(detail.charms),
    // undefined while the children are being counted, so that the field is absent
    child_count: detail.hasAllChildren ? (detail.childCount ?? undefined) : null,
    children: detail.hasAllChildren ? detail.children.map(idText) : null,
    content_length: detail.contentLength,
    content_type: detail.contentType,
    effective_content_type: detail.effectiveContentType,
    fee: detail.fee,
    height: detail.height,
    id: idText(detail.id),
    metaprotocol: detail.metaprotocol,
    next: idOrNull(detail.next),
    number: detail.number,
    parents: detail.parents?.map(idText) ?? null,
    previous: idOrNull(detail.previous),
  });
  return `${fields.slice(0, -1)},"properties":`;
}

function afterProperties(detail: InscriptionDetail): string {
  const fields = JSON.stringify({
    rune: detail.rune === null ? null : formatSpacedRune(detail.rune),
    sat: detail.sat,
    satpoint: detail.location?.satpoint ?? null,
    timestamp: detail.timestamp,
    value: detail.location?.value ?? null,
  });
  return `,${fields.slice(1)}`;
}

function addressOf({ location }: InscriptionDetail, network: NetworkParameters): string | null {
  if (location === null || location.script === null) return null;
  return scriptToAddress(location.script, network);
}

const placeView = (
  location: InscriptionDetail['location'],
): Pick<InscriptionView, 'satpoint' | 'place' | 'value' | 'burnMetadataJson'> => ({
  satpoint: location?.satpoint ?? null,
  place: location?.place ?? null,
  value: location?.value ?? null,
  burnMetadataJson: burnMetadataJson(location?.script ?? null),
});

/** The data of an inscription's page that is not in the inscription's details. */
export interface InscriptionParts {
  /** The inscription itself, with its kind of content. */
  readonly summary: InscriptionSummary;
  /** JSON of the inscription's own title and traits. `null` if it has neither, or if they are too long. */
  readonly attributesJson: string | null;
  readonly propertiesJson: string | null;
  readonly metadataJson: string | null;
  readonly references: readonly Reference[];
  readonly pendingSales: readonly PendingSale[];
  readonly events: InscriptionView['events'];
  /** The collections of the inscription. `null` if they are not known yet. */
  readonly collections: InscriptionView['collections'];
  /**
   * The inscription's neighbours in its first collection. `null` if they are unknown, or if the inscription is in no
   * collection.
   */
  readonly neighbours: ItemNeighbours | null;
  readonly parents: InscriptionView['parents'];
  readonly children: InscriptionView['children'];
  readonly gallery: InscriptionView['gallery'];
  /** The current satribute definitions. */
  readonly satributes: SatributeBook;
}

/** Makes the data of an inscription's page. */
export function inscriptionView(
  detail: InscriptionDetail,
  parts: InscriptionParts,
  network: NetworkParameters,
  site: Site,
): InscriptionView {
  const { location, contentHash } = detail;
  const { summary, attributesJson, neighbours, collections, pendingSales, satributes, ...shown } = parts;
  const { title, traits } = titleAndTraits({
    attributesJson,
    propertiesJson: parts.propertiesJson,
    metadataJson: parts.metadataJson,
  });
  const [collection] = collections ?? [];
  return {
    ...shown,
    site,
    id: idText(detail.id),
    txid: displayHash(detail.id.txid),
    number: detail.number,
    title: title ?? neighbours?.name ?? null,
    traits,
    height: detail.height,
    timestamp: detail.timestamp,
    facts: detail,
    txIndex: detail.txIndex,
    input: detail.input,
    contentType: detail.contentType,
    effectiveContentType: detail.effectiveContentType,
    runs: summary.runs,
    contentEncoding: detail.contentEncoding,
    contentLength: detail.contentLength,
    contentHash: contentHash === null ? null : Buffer.from(contentHash).toString('hex'),
    delegate: idOrNull(detail.delegate),
    metaprotocol: detail.metaprotocol,
    references: parts.references.map(({ id, isMissing }) => ({ id: idText(id), isMissing })),
    sat:
      detail.sat === null ? null : { number: detail.sat, satributes: satributeNames(detail.sat, satributes) },
    charms: detail.charms === null ? null : charmNames(detail.charms),
    curse: curseName(detail.curse),
    fee: detail.fee,
    address: addressOf(detail, network),
    ...placeView(location),
    hasAllChildren: detail.hasAllChildren,
    pendingSales: pendingSales.map(({ price, maker, taker, txid }) => ({
      price,
      makerAddress: scriptToAddress(maker, network),
      takerAddress: taker === null ? null : scriptToAddress(taker, network),
      txid: displayHash(txid),
    })),
    collections,
    neighbours:
      neighbours === null || collection === undefined
        ? null
        : { collection, previous: idOrNull(neighbours.previous), next: idOrNull(neighbours.next) },
    previous: idOrNull(detail.previous),
    next: idOrNull(detail.next),
  };
}
