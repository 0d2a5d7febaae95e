import type pg from 'pg';
import { insertAccount, insertKey } from '#accounts/account.store.ts';
import { newApiKey } from '#accounts/api-key.ts';
import { usualTerms } from '#kernel/contracts/asking-key.ts';
import { networks } from '#kernel/primitives/network.ts';
import { readWatchCondition } from '#watches/reading/read-watch.ts';
import { readFindings } from '#watches/store/findings.store.ts';
import { createWatch } from '#watches/store/watches.store.ts';
import type { Finding, Watch, WatchKind } from '#watches/watch.ts';

let accounts = 0;

/** The id of a new key of a new account. */
export async function newKey(pool: pg.Pool): Promise<number> {
  const account = `watcher${accounts++}`;
  await insertAccount(pool, account);
  const key = newApiKey();
  return (await insertKey(pool, key, { account, scopes: ['search'], rate: null, terms: usualTerms })).id;
}

/** A new watch of a key, from the body of a request. */
export async function newWatch(
  pool: pg.Pool,
  keyId: number,
  kind: WatchKind,
  body: Record<string, unknown>,
): Promise<Watch> {
  const read = readWatchCondition(kind, body, networks.regtest);
  if (read.kind === 'faulty') throw new Error(JSON.stringify(read.faults));
  const { webhookUrl = null } = body as { readonly webhookUrl?: string };
  const made = await createWatch(pool, {
    keyId,
    kind,
    condition: read.asked,
    webhookUrl,
    secretKey: webhookUrl === null ? null : new Uint8Array(32),
  });
  if (made.kind === 'full') throw new Error('the key has too many watches');
  return made.watch;
}

/** All findings of a watch. */
export const findingsOf = async (pool: pg.Pool, { id }: Watch): Promise<readonly Finding[]> =>
  (await readFindings(pool, id, { after: 0, limit: 1000 })).findings;
