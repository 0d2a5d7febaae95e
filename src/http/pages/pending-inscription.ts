import type { FastifyReply } from 'fastify';
import {
  departureOf,
  type PendingDetail,
  pendingInscription,
} from '#chain/pending/pending-transaction.queries.ts';
import { outpointText } from '#http/ord/outputs/output-facts.ts';
import { sendPage } from '#http/server/answers/send-page.ts';
import { siteOf } from '#http/server/answers/site.ts';
import type { AppDependencies } from '#http/server/routes/app-dependencies.ts';
import { scriptToAddress } from '#kernel/bitcoin/address.ts';
import type { Snapshot } from '#kernel/contracts/search-engine.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { displayHash } from '#kernel/primitives/hash.ts';
import {
  formatInscriptionId,
  type InscriptionId,
  inscriptionIdFromBytes,
} from '#kernel/primitives/inscription-id.ts';
import { utf8OrNull } from '#kernel/text/utf8.ts';
import {
  type PendingInscriptionView,
  pendingInscriptionPage as page,
} from '#web/pages/pending-inscription.page.ts';
import { isVisible } from '#web/parts/strangers-text.ts';
import { type TitleAndTraits, titleAndTraits } from '#web/titles-and-traits.ts';

/** Values of `chain.mempool_inscriptions.place`. */
const places = ['output', 'fee', 'unbound', 'unknown'] as const;
const idBytes = 36;
const hashBytes = 32;

/**
 * Sends the page of an inscription that waits in the mempool. `null` if the inscription is not in the mempool. If it
 * left the mempool without entering a block, throws `not_found` with the reason.
 */
export async function pendingInscriptionPage(
  deps: Pick<AppDependencies, 'network' | 'banner'>,
  { client, tip }: Pick<Snapshot, 'client' | 'tip'>,
  reply: FastifyReply,
  id: InscriptionId,
): Promise<FastifyReply | null> {
  const detail = await pendingInscription(client, id);
  if (detail !== null) {
    // do not cache, because a block may contain the inscription at any moment
    reply.header('cache-control', 'no-store');
    const view = { ...viewOf(detail, deps.network), site: siteOf(deps, tip) };
    return sendPage(reply, page(view), { thumbnails: true });
  }
  const departure = await departureOf(client, id.txid);
  if (departure === null) return null;
  const { reason, replaced_by: by } = departure;
  const why =
    reason === 'replaced'
      ? `another transaction replaced it${by === null ? '' : `: ${displayHash(by)}`}`
      : 'nodes dropped it, because others pay more or because it was too old';
  throw new AppError(
    'not_found',
    `inscription ${formatInscriptionId(id.txid, id.index)} does not exist, because its transaction waited in the mempool, and ${why}`,
  );
}

function viewOf(
  detail: PendingDetail,
  network: AppDependencies['network'],
): Omit<PendingInscriptionView, 'site'> {
  const { txid, index, sha256, delegate, claimed_parents: parents, vout, script } = detail;
  return {
    id: formatInscriptionId(txid, index),
    txid: displayHash(txid),
    ...titleAndTraitsOf(detail),
    contentType: utf8OrNull(detail.content_type),
    contentEncoding: utf8OrNull(detail.content_encoding),
    sizeBytes: detail.content_length,
    contentHash: sha256?.toString('hex') ?? null,
    delegate: delegate === null ? null : idText(delegate),
    metaprotocol: utf8OrNull(detail.metaprotocol),
    metadataJson: detail.metadataJson,
    claimedParents: parents === null ? [] : parts(parents, idBytes).map(idText),
    firstSeen: Math.floor(detail.first_seen.getTime() / 1000),
    fee: detail.fee,
    vsize: detail.vsize,
    replaces: parts(detail.replaces, hashBytes).map(displayHash),
    place: places[detail.place] ?? 'unknown',
    outpoint: detail.place === 0 && vout !== null ? outpointText({ txid, vout }) : null,
    address: script === null ? null : scriptToAddress(script, network),
  };
}

/** The name and traits that the inscription's page will show after a block contains the inscription. */
function titleAndTraitsOf({ title, metadataJson }: PendingDetail): TitleAndTraits {
  const ofMetadata = titleAndTraits({ attributesJson: null, metadataJson });
  return title !== null && isVisible(title) ? { ...ofMetadata, title } : ofMetadata;
}

function idText(bytes: Uint8Array): string {
  const { txid, index } = inscriptionIdFromBytes(bytes);
  return formatInscriptionId(txid, index);
}

const parts = (bytes: Buffer, size: number): Buffer[] =>
  Array.from({ length: bytes.length / size }, (_, at) => bytes.subarray(at * size, (at + 1) * size));
