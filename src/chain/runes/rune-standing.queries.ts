import type pg from 'pg';
import type { ClientBase } from 'pg';
import { requireNotBehind } from '#chain/derived/derived-tables.queries.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import type { Height } from '#kernel/primitives/height.ts';

/** The state of the index of runes at its tip. */
export interface RuneStanding {
  /**
   * The state:
   * - `known`: all runes are known.
   * - `filling`: the table lacks indexed blocks.
   * - `gap`: blocks since the first rune height are missing.
   * - `absent`: runes are not indexed.
   */
  readonly state: 'known' | 'filling' | 'gap' | 'absent';
  /** Number of runes. 0 if they are unknown. */
  readonly count: number;
}

interface Row {
  is_followed: boolean;
  is_wanted: boolean;
  anchored: boolean;
  count: number;
}

export async function runeStanding(db: ClientBase | pg.Pool): Promise<RuneStanding> {
  // there are no gaps between keys; before the first rune height there is at most the rune without an etching
  const { rows } = await db.query<Row>(
    `SELECT d.is_followed, d.is_wanted, coalesce(last.anchored, true) AS anchored,
       coalesce(last.next_key, (SELECT max(key) + 1 FROM chain.runes), 0) AS count
     FROM chain.derived_tables d
     LEFT JOIN (SELECT anchored, next_key FROM chain.rune_blocks ORDER BY height DESC LIMIT 1) AS last ON true
     WHERE d.name = 'runes'`,
  );
  const [row] = rows;
  if (row === undefined || !row.is_wanted) return { state: 'absent', count: 0 };
  if (!row.is_followed) return { state: 'filling', count: 0 };
  return row.anchored ? { state: 'known', count: row.count } : { state: 'gap', count: 0 };
}

/** The error of a server whose settings omit runes, with ord's message. */
export const runesNotIndexed = (): AppError =>
  new AppError('runes_not_indexed', 'this server has no rune index');

/**
 * Guards responses about runes. Throws `runes_not_indexed`, `derived_table_behind` while runes are being filled, and
 * `not_found` if runes can never be known.
 */
export async function requireRunes(client: ClientBase): Promise<RuneStanding> {
  const standing = await runeStanding(client);
  if (standing.state === 'filling') await requireNotBehind(client, 'runes');
  if (standing.state === 'gap')
    throw new AppError(
      'not_found',
      'runes are unknown here, because blocks since the first rune height are missing. `npm run demo -- --sample regtest` has a complete chain',
    );
  if (standing.state === 'absent') throw runesNotIndexed();
  return standing;
}

/**
 * Whether the runes that a block etched are known. Blocks before the first rune height etched no runes, so they count
 * as known.
 */
export async function knowsRunesAt(client: ClientBase, height: Height): Promise<boolean> {
  const { rows } = await client.query<{ is_known: boolean }>(
    `SELECT coalesce((SELECT anchored FROM chain.rune_blocks WHERE height = $1), from_height > $1) AS is_known
     FROM chain.derived_tables WHERE name = 'runes'`,
    [height],
  );
  return rows[0]?.is_known ?? false;
}
