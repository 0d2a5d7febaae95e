import type { InscriptionDetail } from '#chain/inscriptions/inscription.queries.ts';
import type { Reference } from '#chain/inscriptions/recursion.queries.ts';
import { scriptToAddress } from '#kernel/bitcoin/address.ts';
import { charmNames } from '#kernel/primitives/charm.ts';
import { curseName } from '#kernel/primitives/curse.ts';
import { displayHash } from '#kernel/primitives/hash.ts';
import { formatInscriptionId, type InscriptionId } from '#kernel/primitives/inscription-id.ts';
import type { NetworkParameters } from '#kernel/primitives/network.ts';
import type { InscriptionView } from '#web/inscription.page.ts';
import type { Site } from '#web/layout.ts';

const idText = ({ txid, index }: InscriptionId): string => formatInscriptionId(txid, index);
const idOrNull = (id: InscriptionId | null): string | null => (id === null ? null : idText(id));

/** Properties in ord's form for an inscription without any. */
const noProperties = '{"gallery":[],"attributes":{"title":null,"traits":{}}}';

/**
 * The JSON text of ord's `/inscription`. `rune` has no source here and is absent; unknown fields are null
 * (docs/ord-api.md). It is a text because traits can be integers that a JavaScript number would round.
 */
export function inscriptionJson(detail: InscriptionDetail, network: NetworkParameters): string {
  const fields = JSON.stringify({
    address: addressOf(detail, network),
    charms: detail.charms === null ? null : charmNames(detail.charms),
    // absent while children are being counted
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
    // like an ord without a sat index
    sat: null,
    satpoint: detail.location?.satpoint ?? null,
    timestamp: detail.timestamp,
    value: detail.location?.value ?? null,
  });
  return `${fields.slice(0, -1)},"properties":${detail.propertiesJson ?? noProperties}}`;
}

function addressOf({ location }: InscriptionDetail, network: NetworkParameters): string | null {
  if (location === null || location.script === null) return null;
  return scriptToAddress(location.script, network);
}

/** The data of an inscription's page. */
export function inscriptionView(
  detail: InscriptionDetail,
  references: readonly Reference[],
  network: NetworkParameters,
  site: Site,
): InscriptionView {
  const { location, contentHash } = detail;
  return {
    site,
    id: idText(detail.id),
    txid: displayHash(detail.id.txid),
    number: detail.number,
    height: detail.height,
    timestamp: detail.timestamp,
    facts: detail,
    txIndex: detail.txIndex,
    input: detail.input,
    contentType: detail.contentType,
    effectiveContentType: detail.effectiveContentType,
    contentEncoding: detail.contentEncoding,
    contentLength: detail.contentLength,
    contentHash: contentHash === null ? null : Buffer.from(contentHash).toString('hex'),
    delegate: idOrNull(detail.delegate),
    metaprotocol: detail.metaprotocol,
    metadataJson: detail.metadataJson,
    propertiesJson: detail.propertiesJson,
    references: references.map(({ id, isMissing }) => ({ id: idText(id), isMissing })),
    charms: detail.charms === null ? null : charmNames(detail.charms),
    curse: curseName(detail.curse),
    fee: detail.fee,
    satpoint: location?.satpoint ?? null,
    place: location?.place ?? null,
    address: addressOf(detail, network),
    value: location?.value ?? null,
    parents: detail.parents?.map(idText) ?? null,
    children: detail.children.map(idText),
    childCount: detail.childCount,
    hasAllChildren: detail.hasAllChildren,
    previous: idOrNull(detail.previous),
    next: idOrNull(detail.next),
  };
}
