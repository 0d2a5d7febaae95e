import type { FastifyRequest } from 'fastify';
import type pg from 'pg';
import { blockAt } from '#chain/blocks/block.queries.ts';
import { isReveal } from '#chain/inscriptions/inscription.queries.ts';
import { isEtched, nameOfRune } from '#chain/runes/rune.queries.ts';
import type { AppDependencies } from '#http/server/routes/app-dependencies.ts';
import { parseAddress } from '#kernel/bitcoin/parse-address.ts';
import type { Asker } from '#kernel/contracts/asker.ts';
import { withCutConnection } from '#kernel/pg/cut-connection.ts';
import { type BlockHash, parseBlockHash, parseTxid } from '#kernel/primitives/hash.ts';
import type { NetworkParameters } from '#kernel/primitives/network.ts';
import { runeLetters } from '#kernel/runes/rune.ts';
import { hasFormOfRuneId, parseRuneId } from '#kernel/runes/rune-id.ts';
import { parseSpacedRune } from '#kernel/runes/spaced-rune.ts';

type Chain = Pick<AppDependencies, 'pool' | 'network'>;

/**
 * Where ord's `/search` leads (ord src/subcommand/server.rs), as far as the target exists here: blocks, transactions
 * that revealed, outputs, addresses, inscriptions by id or number, satpoints, runes by id or, if they exist, by name,
 * and sats by degree, decimal or percentile; a name of a sat is any word, so it is searched as a text. Other 64 hex
 * digits count as the hash of a file, and anything else as a text; both become searches of the page. The id of no rune
 * leads to an answer that says so.
 *
 * @param isTyped typed by a person, who is led to the inscription that a transaction revealed instead of the
 * transaction
 */
export async function findTarget(
  { pool, network }: Chain,
  given: string,
  { signal }: Asker,
  isTyped = false,
): Promise<string> {
  const query = given.trim();
  const hash = parseBlockHash(query);
  const txid = parseTxid(query);
  if (hash === null || txid === null) {
    if (hasFormOfRuneId(query)) return (await runeOfId(pool, query, signal)) ?? `/rune/${query}`;
    const named = namedTarget(query, network) ?? satTarget(query) ?? (await runeTarget(pool, query, signal));
    return named ?? (query === '' ? '/' : textTarget(query));
  }
  const lower = query.toLowerCase();
  return withCutConnection(pool, signal, async (client) => {
    if (await isBlock(client, hash)) return `/block/${lower}`;
    if (!(await isReveal(client, txid))) return `/?hash=${lower}`;
    return isTyped ? `/inscription/${lower}i0` : `/tx/${lower}`;
  });
}

/**
 * Where the search box leads for a text that can hardly be meant as one: a rune by its id or its name with spacers, a sat
 * by its degree, an output or a satpoint. Null: search the text.
 */
export async function typedTarget(
  { pool, network }: Chain,
  typed: string,
  { signal }: Asker,
): Promise<string | null> {
  if (/^[0-9a-f]{64}:/iu.test(typed)) return namedTarget(typed, network);
  if (hasFormOfRuneId(typed)) return runeOfId(pool, typed, signal);
  if (typed.includes('°')) return satTarget(typed);
  return typed.includes('•') ? runeTarget(pool, typed, signal) : null;
}

/** The redirect of ord's paths that are just an identifier; null for anything else. */
export async function bareTarget(
  { pool, network }: Chain,
  { method, url }: FastifyRequest,
  { signal }: Asker,
): Promise<string | null> {
  const query = /^\/+([^/?#]+)/u.exec(url)?.[1];
  if (query === undefined || /^\/+[^/?#]+\/+[^/?#]/u.test(url)) return null;
  if (method !== 'GET' && method !== 'HEAD') return null;
  const hash = parseBlockHash(query);
  if (hash === null) return namedTarget(query, network) ?? barePathOfRune(pool, nameIn(query), signal);
  const isOfBlock = await withCutConnection(pool, signal, (client) => isBlock(client, hash));
  return `/${isOfBlock ? 'block' : 'tx'}/${query.toLowerCase()}`;
}

/** Of a rune by its id or name, whether it exists or not as long as it is plain that a rune is meant. */
async function barePathOfRune(pool: pg.Pool, query: string, signal: AbortSignal): Promise<string | null> {
  if (parseRuneId(query) !== null) return `/rune/${query}`;
  const target = await runeTarget(pool, query, signal);
  const isText = target === null && query.includes('•') && parseSpacedRune(query) !== null;
  return isText ? textTarget(query) : target;
}

/** By its name without spacers, as ord leads there from an id. Null: there is none. */
async function runeOfId(pool: pg.Pool, query: string, signal: AbortSignal): Promise<string | null> {
  const id = parseRuneId(query);
  if (id === null) return null;
  const rune = await withCutConnection(pool, signal, (client) => nameOfRune(client, id));
  return rune === null ? null : `/rune/${runeLetters(rune)}`;
}

const textTarget = (text: string): string => `/?text=${encodeURIComponent(text.toWellFormed())}`;

/** A segment of a path as text: the spacers of a rune come percent-encoded. */
function nameIn(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}

/** A rune that exists. Any other word may be a text. */
export async function runeTarget(pool: pg.Pool, query: string, signal: AbortSignal): Promise<string | null> {
  const spaced = parseSpacedRune(query);
  if (spaced === null) return null;
  const isRune = await withCutConnection(pool, signal, (client) => isEtched(client, spaced.rune));
  return isRune ? `/rune/${encodeURIComponent(query)}` : null;
}

function namedTarget(query: string, network: NetworkParameters): string | null {
  if (/^[0-9a-f]{64}i\d+$/iu.test(query) || /^-?\d{1,63}$/u.test(query)) return `/inscription/${query}`;
  if (/^[0-9a-f]{64}:\d{1,10}$/iu.test(query)) return `/output/${query.toLowerCase()}`;
  if (/^[0-9a-f]{64}:\d{1,10}:\d{1,20}$/iu.test(query)) return `/satpoint/${query.toLowerCase()}`;
  return parseAddress(query, network).kind === 'script' ? `/address/${query}` : null;
}

/** The notations of a sat, without the whole numbers, which are inscriptions, and the names, which are words. */
function satTarget(query: string): string | null {
  const isSat = /^(?:\d{1,10}°\d+′\d+″(?:\d+‴)?|\d{1,10}\.\d+|\d{1,3}(?:\.\d+)?%)$/u.test(query);
  return isSat ? `/sat/${encodeURIComponent(query)}` : null;
}

async function isBlock(client: pg.ClientBase, hash: BlockHash): Promise<boolean> {
  return (await blockAt(client, { kind: 'hash', hash })) !== null;
}
