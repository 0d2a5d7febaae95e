import type { Collection } from '#collections/collection/collection.store.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import type { ApprovalFault } from './approval-faults.ts';

export const unknownMint = (id: string): AppError =>
  new AppError('mint_unknown', `No collection for sale has the id "${id}".`, { id });

/** Throws `mint_decided` for a collection that is not pending. */
export function requirePending({
  id,
  state,
  decidedAt,
}: Pick<Collection, 'id' | 'state' | 'decidedAt'>): void {
  if (state === 'pending') return;
  const at = decidedAt === null ? '' : ` since ${decidedAt.toISOString().slice(0, 19)}Z`;
  throw new AppError('mint_decided', `The collection ${id} is ${state}${at}.`, { id, state });
}

/** Maximum number of faults in a message. A collection may have 100,000 files, each with a fault. */
const shownMax = 100;

/** @param untried number of files that were not fetched after too many faults */
export function wrongFiles(id: string, faults: readonly ApprovalFault[], untried = 0): AppError {
  const lines = faults.slice(0, shownMax).map(({ where, why }) => `${where} ${why}.`);
  if (faults.length > shownMax) lines.push(`… and ${faults.length - shownMax} more.`);
  if (untried > 0) lines.push(`${untried} more files were not fetched because of these faults.`);
  const message = `The collection ${id} was not changed, because of these faults:\n  ${lines.join('\n  ')}`;
  return new AppError('mint_files_wrong', message, {
    id,
    faults: faults.slice(0, shownMax),
    count: faults.length,
  });
}
