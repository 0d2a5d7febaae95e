import { formatInscriptionId, type InscriptionId } from '#kernel/primitives/inscription-id.ts';
import type { NetworkParameters } from '#kernel/primitives/network.ts';

const salesUnknown =
  'Sales are unknown, because this index lacks the spent outputs of its last blocks (its folder of blocks does not have them).';

/** A note for pages whose sums of sales are incomplete. `null` if the sums are complete. */
export function salesNote(
  { firstInscriptionHeight }: Pick<NetworkParameters, 'firstInscriptionHeight'>,
  areLeftOut: boolean,
  countedFrom: number | null,
): string | null {
  if (areLeftOut) return 'Sales are not indexed, because INDEX_SALES is false on this server.';
  if (countedFrom === null) return salesUnknown;
  if (countedFrom <= firstInscriptionHeight) return null;
  return `Sales are counted from block ${countedFrom} on, because earlier blocks, or the outputs that they spend, are missing.`;
}

/** A time in the form of the public interface. It is in UTC with microseconds, but names no zone. */
export const marketTime = (seconds: number): string =>
  `${new Date(seconds * 1000).toISOString().slice(0, -'.000Z'.length)}.000000`;

export const thumbnailUrl = (origin: string, { txid, index }: InscriptionId): string =>
  `${origin}/thumbnails/${formatInscriptionId(txid, index)}.jpeg`;
