import type { FastifyRequest } from 'fastify';
import type pg from 'pg';
import { blockAt } from '#chain/blocks/block.queries.ts';
import { isReveal } from '#chain/inscriptions/inscription.queries.ts';
import type { AppDependencies } from '#http/server/app-dependencies.ts';
import { parseAddress } from '#kernel/bitcoin/parse-address.ts';
import { type BlockHash, parseBlockHash, parseTxid } from '#kernel/primitives/hash.ts';
import type { NetworkParameters } from '#kernel/primitives/network.ts';

type Chain = Pick<AppDependencies, 'pool' | 'network'>;

/**
 * Where ord's `/search` leads (ord src/subcommand/server.rs), as far as the target exists here: blocks, transactions
 * that revealed, outputs, addresses, and inscriptions by id or number. Other 64 hex digits count as the hash of a
 * file, and anything else as a text; both become searches of the page.
 *
 * @param isTyped typed by a person, who is led to the inscription that a transaction revealed instead of the
 * transaction
 */
export async function findTarget({ pool, network }: Chain, given: string, isTyped = false): Promise<string> {
  const query = given.trim();
  const hash = parseBlockHash(query);
  const txid = parseTxid(query);
  if (hash === null || txid === null) {
    const named = namedTarget(query, network);
    return named ?? (query === '' ? '/' : `/?text=${encodeURIComponent(query.toWellFormed())}`);
  }
  const lower = query.toLowerCase();
  if (await isBlock(pool, hash)) return `/block/${lower}`;
  if (!(await isReveal(pool, txid))) return `/?hash=${lower}`;
  return isTyped ? `/inscription/${lower}i0` : `/tx/${lower}`;
}

/** The redirect of ord's paths that are just an identifier; null for anything else. */
export async function bareTarget(
  { pool, network }: Chain,
  { method, url }: FastifyRequest,
): Promise<string | null> {
  const query = /^\/+([^/?#]+)/u.exec(url)?.[1];
  if (query === undefined || /^\/+[^/?#]+\/+[^/?#]/u.test(url)) return null;
  if (method !== 'GET' && method !== 'HEAD') return null;
  const hash = parseBlockHash(query);
  if (hash === null) return namedTarget(query, network);
  return `/${(await isBlock(pool, hash)) ? 'block' : 'tx'}/${query.toLowerCase()}`;
}

function namedTarget(query: string, network: NetworkParameters): string | null {
  if (/^[0-9a-f]{64}i\d+$/iu.test(query) || /^-?\d{1,63}$/u.test(query)) return `/inscription/${query}`;
  if (/^[0-9a-f]{64}:\d{1,10}$/iu.test(query)) return `/output/${query.toLowerCase()}`;
  return parseAddress(query, network).kind === 'script' ? `/address/${query}` : null;
}

async function isBlock(pool: pg.Pool, hash: BlockHash): Promise<boolean> {
  return (await blockAt(pool, { kind: 'hash', hash })) !== null;
}
