import type pg from 'pg';
import { blockAt } from '#chain/block.queries.ts';
import { isReveal } from '#chain/inscription.queries.ts';
import { parseAddress } from '#kernel/bitcoin/parse-address.ts';
import { hashFromDisplay } from '#kernel/primitives/hash.ts';
import type { AppDependencies } from './app-dependencies.ts';

/**
 * Where ord's `/search` leads (ord src/subcommand/server.rs), as far as there is something here: blocks, transactions
 * that revealed, outputs, addresses, and inscriptions by id or number. Other 64 hex digits are taken for the hash of a
 * file, and the rest for a text; both are searches of the page.
 *
 * @param isTyped by a person, who is led to the inscription that a transaction revealed rather than to the transaction
 */
export async function findTarget(
  { pool, network }: Pick<AppDependencies, 'pool' | 'network'>,
  given: string,
  isTyped = false,
): Promise<string> {
  const query = given.trim();
  const hash = hashFromDisplay(query);
  if (hash !== null) return hashTarget(pool, hash, query.toLowerCase(), isTyped);
  if (/^[0-9a-f]{64}i\d+$/iu.test(query) || /^-?\d{1,63}$/u.test(query)) return `/inscription/${query}`;
  if (/^[0-9a-f]{64}:\d{1,10}$/iu.test(query)) return `/output/${query.toLowerCase()}`;
  if (parseAddress(query, network).kind === 'script') return `/address/${query}`;
  return query === '' ? '/' : `/?text=${encodeURIComponent(query.toWellFormed())}`;
}

async function hashTarget(pool: pg.Pool, hash: Uint8Array, query: string, isTyped: boolean): Promise<string> {
  if ((await blockAt(pool, { kind: 'hash', hash })) !== null) return `/block/${query}`;
  if (!(await isReveal(pool, hash))) return `/?hash=${query}`;
  return isTyped ? `/inscription/${query}i0` : `/tx/${query}`;
}
