import { accessErrors } from './access-errors.ts';
import { backupErrors } from './backup-errors.ts';
import { blockErrors } from './block-errors.ts';
import { collectionErrors } from './collection-errors.ts';
import { commandErrors } from './command-errors.ts';
import { consoleErrors } from './console-errors.ts';
import type { ErrorCodeEntry } from './error-code-entry.ts';
import { indexErrors } from './index-errors.ts';
import { marketErrors } from './market-errors.ts';
import { mempoolErrors } from './mempool-errors.ts';
import { nodeErrors } from './node-errors.ts';
import { orderErrors } from './order-errors.ts';
import { payoutErrors } from './payout-errors.ts';
import { postgresErrors } from './postgres-errors.ts';
import { requestErrors } from './request-errors.ts';
import { searchErrors } from './search-errors.ts';
import { tokenpayErrors } from './tokenpay-errors.ts';
import { utxoErrors } from './utxo-errors.ts';
import { walletErrors } from './wallet-errors.ts';
import { watchErrors } from './watch-errors.ts';
import { webhookErrors } from './webhook-errors.ts';

/** All codes. Each code comes from the file of its subject. */
const table = {
  ...accessErrors,
  ...backupErrors,
  ...blockErrors,
  ...commandErrors,
  ...consoleErrors,
  ...indexErrors,
  ...marketErrors,
  ...mempoolErrors,
  ...nodeErrors,
  ...orderErrors,
  ...payoutErrors,
  ...postgresErrors,
  ...requestErrors,
  ...searchErrors,
  ...tokenpayErrors,
  ...utxoErrors,
  ...collectionErrors,
  ...walletErrors,
  ...watchErrors,
  ...webhookErrors,
} as const;

export type ErrorCode = keyof typeof table;
export const errorCodes: Readonly<Record<ErrorCode, ErrorCodeEntry>> = table;
