import type { ClientBase } from 'pg';
import { type RuneDetail, runeDetail } from '#chain/runes/rune.queries.ts';
import { knowsRunesAt, requireRunes } from '#chain/runes/rune-standing.queries.ts';
import { quoted, runeQuestionOf } from '#http/parameters/path-parameters.ts';
import type { Tip } from '#kernel/contracts/search-engine.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { type Height, parseHeight } from '#kernel/primitives/height.ts';

/** The rune with a name. Throws `not_found`, and `derived_table_behind` while the table of runes is being filled. */
export async function foundRune(client: ClientBase, name: string): Promise<RuneDetail> {
  await requireRunes(client);
  const rune = await runeDetail(client, runeQuestionOf(name));
  if (rune === null) throw new AppError('not_found', `rune ${quoted(name)} not found`);
  return rune;
}

/** Returns the height if the runes at this height are known. Throws `not_found` otherwise. */
export async function knownHeight(client: ClientBase, height: Height): Promise<Height> {
  if (await knowsRunesAt(client, height)) return height;
  throw new AppError('not_found', `runes are unknown at height ${height}`);
}

/** Parses the height in the parameter `at`. `null` if the parameter is absent. Throws `request_invalid`. */
export function heightOfAt(at: string | undefined): Height | null {
  if (at === undefined) return null;
  const height = parseHeight(at);
  if (height !== null) return height;
  throw new AppError('request_invalid', `at is not a height: ${quoted(at)}`, { parameter: 'at' });
}

/**
 * The requested height, or the tip's height if none is requested. Throws `request_invalid` for a height above the tip.
 */
export function heightAt(asked: Height | null, tip: Tip | null): Height {
  if (tip === null) throw new AppError('not_found', 'no block is indexed');
  if (asked === null) return tip.height;
  if (asked <= tip.height) return asked;
  throw new AppError('request_invalid', `at is above the tip, ${tip.height}`, { parameter: 'at' });
}
