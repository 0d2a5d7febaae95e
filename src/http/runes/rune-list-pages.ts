import type { FastifyReply } from 'fastify';
import type { RuneDetail } from '#chain/runes/rune.queries.ts';
import type { RuneActivity } from '#chain/runes/rune-activity.queries.ts';
import { runeEventLine, runeNamed } from '#http/ord/runes/rune-pages.ts';
import { sendPage } from '#http/server/answers/send-page.ts';
import { type SiteDependencies, siteOf } from '#http/server/answers/site.ts';
import type { Tip } from '#kernel/contracts/search-engine.ts';
import type { Height } from '#kernel/primitives/height.ts';
import { asHeight } from '#kernel/primitives/height.ts';
import { shownAmount } from '#kernel/runes/shown-amount.ts';
import { type U128, u128OfText } from '#kernel/runes/u128.ts';
import { runeActivityPage, runeHoldersPage } from '#web/pages/rune-lists.page.ts';
import type { FoundHolders } from './holders-answer.ts';

/** Number of rows on an HTML page. With more rows, people on a phone would have to scroll far. */
export const pageRows = 100;

/** Sends the page of a rune's holders. `asked` is the height in the link, or null for the tip's height. */
export function sendHoldersPage(
  deps: SiteDependencies,
  reply: FastifyReply,
  { answer, rune, offset, tip }: FoundHolders,
  asked: Height | null,
): FastifyReply {
  const { height, count, nextCursor, proven, holders, held } = answer;
  const amount = (units: string): string => shownAmount(u128OfText(units), rune.divisibility);
  const list: Record<string, string> = asked === null ? {} : { at: String(asked) };
  const page = runeHoldersPage({
    site: siteOf(deps, tip),
    rune: runeNamed(rune),
    height: asHeight(height),
    count,
    held: amount(held),
    burned: amount(answer.burned),
    minted: amount(answer.minted),
    premine: amount(answer.premine),
    isProven: proven,
    rank: offset + 1,
    holders: holders.map(({ address, script, scriptSha256, amount: units, outputs, display }) => ({
      address,
      script,
      scriptSha256,
      amount: display,
      percent: percentOf(u128OfText(units), u128OfText(held)),
      outputs,
    })),
    first: offset === 0 ? null : queryOf(list),
    next: nextCursor === null ? null : queryOf({ ...list, cursor: nextCursor }),
  });
  return sendPage(reply, page);
}

/** Parts of a page of activity. */
interface FoundActivity {
  readonly rune: RuneDetail;
  readonly events: readonly RuneActivity[];
  readonly order: 'asc' | 'desc';
  /** Whether this page has the newest events. */
  readonly isFirst: boolean;
  readonly nextCursor: string | null;
  readonly tip: Tip | null;
}

/** Sends the page of a rune's events. */
export function sendActivityPage(
  deps: SiteDependencies,
  reply: FastifyReply,
  { rune, events, order, isFirst, nextCursor, tip }: FoundActivity,
): FastifyReply {
  const isOldestFirst = order === 'asc';
  const list: Record<string, string> = isOldestFirst ? { order } : {};
  const page = runeActivityPage({
    site: siteOf(deps, tip),
    rune: runeNamed(rune),
    isOldestFirst,
    events: events.map((event) => runeEventLine(event, rune.divisibility, deps.network)),
    first: isFirst ? null : queryOf(list),
    next: nextCursor === null ? null : queryOf({ ...list, cursor: nextCursor }),
  });
  return sendPage(reply, page);
}

const queryOf = (parameters: Readonly<Record<string, string>>): string =>
  new URLSearchParams(parameters).toString();

/** A percentage with two decimals. It is rounded down, so that a holder of almost all units never has 100 %. */
export function percentOf(part: U128, whole: U128): number {
  return BigInt(whole) === 0n ? 0 : Number((BigInt(part) * 10_000n) / BigInt(whole)) / 100;
}
