import type { FastifyRequest } from 'fastify';
import type { ClientBase } from 'pg';
import { blockAt } from '#chain/blocks/block.queries.ts';
import { spacedNameOf } from '#chain/runes/rune.queries.ts';
import type { AppDependencies } from '#http/server/routes/app-dependencies.ts';
import type { Asker } from '#kernel/contracts/asker.ts';
import { withCutConnection } from '#kernel/pg/cut-connection.ts';
import { runeLetters } from '#kernel/runes/rune.ts';
import { parseSpacedRune } from '#kernel/runes/spaced-rune.ts';
import { knownHash } from './hash-meanings.ts';
import { type Notation, readNotations } from './notations.ts';
import { isOrderId } from './order-id.ts';

type Chain = Pick<AppDependencies, 'pool' | 'network'>;

/*
 * Targets of ord's redirects (ord src/subcommand/server.rs). They read texts like the search box (notations.ts), but
 * return only one target, and read only ord's forms: no `#`, no grouped digits, and runes in capitals.
 */

/**
 * The redirect of ord's `/search`. Its targets are known blocks and transactions, outputs, addresses, inscriptions by
 * id or number, satpoints, runes by id, existing runes by name, and sats by degree, decimal or percentile. The name of
 * a sat can be any word, so such a name is searched as a text. Other texts of 64 hex digits are searched as the hash of
 * a file, and all other texts as texts. The id of an unknown rune leads to an answer that says that the rune is
 * unknown.
 */
export async function ordTarget({ pool, network }: Chain, given: string, { signal }: Asker): Promise<string> {
  const query = given.trim();
  if (query === '') return '/';
  if (isOrderId(query)) return '/order';
  const notations = readNotations(query, network);
  const named = notations.map((notation) => formTarget(notation, query)).find((target) => target !== null);
  if (named !== undefined && named !== null) return named;
  const target = await withCutConnection(pool, signal, async (client) => {
    for (const notation of notations) {
      const found = await lookedUpTarget(client, notation, query);
      if (found !== null) return found;
    }
    return null;
  });
  return target ?? textTarget(query);
}

/** The redirect of ord's paths that contain only an identifier. `null` for all other paths. */
export async function bareTarget(
  { pool, network }: Chain,
  { method, url }: FastifyRequest,
  { signal }: Asker,
): Promise<string | null> {
  const query = segmentOf(url);
  if (query === null || (method !== 'GET' && method !== 'HEAD')) return null;
  const [notation] = readNotations(query, network);
  // in ord, paths with only an identifier never name sats
  if (notation === undefined || notation.kind === 'sat' || notation.kind === 'name') return null;
  if (notation.kind === 'rune id') return notation.id === null ? null : `/rune/${query}`;
  return notation.kind === 'hash' || notation.kind === 'rune'
    ? withCutConnection(pool, signal, (client) => barePathOf(client, notation, query))
    : formTarget(notation, query);
}

/**
 * The decoded segment of a path that has only one segment. It is decoded, because the spacers of a rune are
 * percent-encoded. Null if the path has several segments, or if blanks surround the segment.
 */
function segmentOf(url: string): string | null {
  const segment = /^\/+([^/?#]+)/u.exec(url)?.[1];
  if (segment === undefined || /^\/+[^/?#]+\/+[^/?#]/u.test(url)) return null;
  const query = decoded(segment);
  return query === query.trim() ? query : null;
}

async function barePathOf(
  client: ClientBase,
  notation: Extract<Notation, { kind: 'hash' | 'rune' }>,
  query: string,
): Promise<string | null> {
  if (notation.kind === 'hash') {
    const isBlock = (await blockAt(client, { kind: 'hash', hash: notation.block })) !== null;
    return `/${isBlock ? 'block' : 'tx'}/${notation.hex}`;
  }
  const rune = await lookedUpTarget(client, notation, query);
  // the text clearly means a rune, even if the rune does not exist
  const isMissing = rune === null && notation.isSpaced && parseSpacedRune(query) !== null;
  return isMissing ? textTarget(query) : rune;
}

/**
 * The target of a notation if no database is needed, or null. The answer at the target says whether the thing exists.
 */
function formTarget(notation: Notation, query: string): string | null {
  if (notation.kind === 'inscription id') return `/inscription/${query}`;
  if (notation.kind === 'number') return /^-?\d+$/u.test(query) ? `/inscription/${query}` : null;
  if (notation.kind === 'outpoint') return `/output/${notation.text}`;
  if (notation.kind === 'satpoint') return `/satpoint/${notation.text}`;
  if (notation.kind === 'address')
    return notation.address.toLowerCase() === query.toLowerCase() ? `/address/${query}` : null;
  const isSat = notation.kind === 'sat' && isOrdsSat(notation, query);
  return isSat ? `/sat/${encodeURIComponent(query)}` : null;
}

/** Whether ord reads a text as a sat. Ord reads whole numbers as inscriptions, and names as words. */
const isOrdsSat = ({ form, text }: Extract<Notation, { kind: 'sat' }>, query: string): boolean =>
  form !== 'number' && form !== 'name' && text === query;

async function lookedUpTarget(client: ClientBase, notation: Notation, query: string): Promise<string | null> {
  if (notation.kind === 'hash') {
    const known = await knownHash(client, notation);
    if (known === null) return `/?hash=${notation.hex}`;
    return `/${known.kind === 'block' ? 'block' : 'tx'}/${notation.hex}`;
  }
  if (notation.kind === 'rune id') {
    const found = notation.id === null ? null : await spacedNameOf(client, { kind: 'id', id: notation.id });
    return found === null ? `/rune/${query}` : `/rune/${runeLetters(found.rune)}`;
  }
  if (notation.kind !== 'rune' || parseSpacedRune(query) === null) return null;
  const found = await spacedNameOf(client, { kind: 'rune', rune: notation.rune });
  return found === null ? null : `/rune/${encodeURIComponent(query)}`;
}

const textTarget = (text: string): string => `/?text=${encodeURIComponent(text.toWellFormed())}`;

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}
