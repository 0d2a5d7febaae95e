import type pg from 'pg';
import { blockAt } from '#chain/block.queries.ts';
import { isReveal } from '#chain/inscription.queries.ts';
import { hashFromDisplay } from '#kernel/primitives/hash.ts';

/**
 * Where ord's `/search` would lead (ord src/subcommand/server.rs), as far as there is something here: blocks,
 * inscriptions by id, number or the transaction that revealed them. Anything else that is 64 hex digits is taken for
 * the hash of a file, and the rest for a text; both are searches of the page.
 */
export async function findTarget(pool: pg.Pool, given: string): Promise<string> {
  const query = given.trim();
  const hash = hashFromDisplay(query);
  if (hash !== null) return hashTarget(pool, hash, query);
  if (/^[0-9a-f]{64}i\d+$/iu.test(query) || /^-?\d{1,63}$/u.test(query)) return `/inscription/${query}`;
  return query === '' ? '/' : `/?text=${encodeURIComponent(query.toWellFormed())}`;
}

async function hashTarget(pool: pg.Pool, hash: Uint8Array, query: string): Promise<string> {
  const block = await blockAt(pool, { kind: 'hash', hash });
  if (block !== null) return `/block/${query.toLowerCase()}`;
  const revealed = await isReveal(pool, hash);
  return revealed ? `/inscription/${query.toLowerCase()}i0` : `/?hash=${query.toLowerCase()}`;
}
