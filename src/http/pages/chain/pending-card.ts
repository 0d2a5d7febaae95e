import type { PendingSummary } from '#chain/pending/pending-transaction.queries.ts';
import { formatInscriptionId } from '#kernel/primitives/inscription-id.ts';
import type { PendingCard } from '#web/parts/pending-cards.ts';

export const pendingCardOf = ({
  id,
  contentType,
  sizeBytes,
  text,
  fee,
  vsize,
}: PendingSummary): PendingCard => ({
  id: formatInscriptionId(id.txid, id.index),
  contentType,
  sizeBytes,
  text,
  fee,
  vsize,
});
