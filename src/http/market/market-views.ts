import type { FastifyRequest } from 'fastify';
import { ownerView } from '#http/runes/rune-views.ts';
import { formatInscriptionId, type InscriptionId } from '#kernel/primitives/inscription-id.ts';
import type { NetworkParameters } from '#kernel/primitives/network.ts';

/**
 * The address of a script. Where it has none: the script in hex, or `sha256:` and the hash of one that is longer than
 * 128 bytes. The interface has a text here, never null.
 */
export function partyOf(script: Uint8Array, network: NetworkParameters): string {
  const { address, script: hex, scriptSha256 } = ownerView(script, network);
  return address ?? hex ?? `sha256:${scriptSha256}`;
}

/** A time as the interface writes it: UTC with microseconds, without a zone. */
export const marketTime = (seconds: number): string =>
  `${new Date(seconds * 1000).toISOString().slice(0, -'.000Z'.length)}.000000`;

/** Where this service is reached: PUBLIC_URL, else what the request names. */
export const originOf = (request: FastifyRequest, publicOrigin: string | null): string =>
  publicOrigin ?? `${request.protocol}://${request.host}`;

export const thumbnailUrl = (origin: string, { txid, index }: InscriptionId): string =>
  `${origin}/thumbnails/${formatInscriptionId(txid, index)}.jpeg`;
