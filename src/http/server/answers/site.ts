import type { BlockFacts, InscriptionSummary } from '#chain/blocks/block.queries.ts';
import type { BlockRef } from '#kernel/contracts/block-source.ts';
import { displayHash } from '#kernel/primitives/hash.ts';
import { formatInscriptionId } from '#kernel/primitives/inscription-id.ts';
import type { NetworkParameters } from '#kernel/primitives/network.ts';
import type { Site } from '#web/layout.ts';
import type { BlockLine } from '#web/parts/blocks-table.ts';
import type { Card } from '#web/parts/cards.ts';

/** The data in the head of every page. */
export function siteOf(network: NetworkParameters, tip: BlockRef | null): Site {
  return { network: network.name, tipHeight: tip?.height ?? null };
}

export function blockLine({ hash, ...block }: BlockFacts): BlockLine {
  return { ...block, hash: displayHash(hash) };
}

export function cardOf(summary: InscriptionSummary): Card {
  const { id, number, height, contentType, sizeBytes, text } = summary;
  return { id: formatInscriptionId(id.txid, id.index), number, height, contentType, sizeBytes, text };
}
