import type pg from 'pg';
import type { BlockRef, BlockSource, Island } from '#kernel/contracts/block-source.ts';
import type { HeaderRef, LiveBlockSource } from '#kernel/contracts/live-source.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { asHeight, genesisHeight, type Height, maxHeight } from '#kernel/primitives/height.ts';
import { networks } from '#kernel/primitives/network.ts';
import {
  type OurPart,
  type Plan,
  plan,
  type Rule,
  type TheirPart,
  type WeighedRef,
} from './compare-chains.ts';
import { type KnownEnds, knownRefs, workOfHeader } from './known-blocks.ts';

/**
 * Maximum number of headers per request: as many as a node gives in one REST answer. One round uses as many block
 * references, some 400 bytes each. The look-ahead then idles for a few milliseconds per round of several seconds.
 */
const pageHeaders = 2000;
/**
 * Maximum number of times that a plan starts again because the chain changed between two pages. After that, the chain
 * is read again later.
 */
const restartsMax = 5;
export type Steps = Extract<Plan, { kind: 'steps' }>;

export interface Planned {
  readonly plan: Exclude<Plan, { kind: 'needHeaders' }>;
  /** The source's best block when the plan was made. Null: the source has no block. */
  readonly sourceTip: BlockRef | null;
}

export function isLive(source: BlockSource | LiveBlockSource): source is LiveBlockSource {
  return 'news' in source;
}

/** Reads as much of both chains as a plan needs, from the database and from the source. */
export async function makePlan(
  client: pg.ClientBase,
  ends: KnownEnds | null,
  source: BlockSource | LiveBlockSource,
  signal: AbortSignal,
): Promise<Planned> {
  for (let attempt = 0; attempt < restartsMax; attempt++) {
    const theirs = isLive(source)
      ? new LiveChain(source, signal, ends?.tip ?? null)
      : await RestingChain.of(source);
    const planned = await decide(client, ends, theirs, isLive(source) ? 'weigh' : 'take');
    if (planned === null) continue;
    if (planned.plan.kind !== 'wait' || !isLive(source) || ends === null) return planned;
    if (!(await source.isInvalid(ends.tip.hash, signal))) return planned;
    const taken = await decide(client, ends, new LiveChain(source, signal, ends.tip), 'take');
    if (taken !== null) return taken;
  }
  throw new AppError('node_answer_invalid', `The headers of ${source.name} do not form a chain.`);
}

/** A source's chain, read part by part. A result of null means that the chain has changed since the earlier parts. */
interface TheirChain {
  /** Whether each of its blocks proves the blocks below it, down to our lowest block. */
  isOneRunFrom(lowest: Height): boolean;
  /** Its blocks from `from` on, after all blocks already returned: one page, or all. */
  above(from: Height): Promise<WeighedRef[] | null>;
  /** The blocks just below the lowest returned block, at heights `from` to `end` - 1. */
  below(from: Height, end: number): Promise<WeighedRef[] | null>;
  /** True once `above` has reached the tip. */
  readonly isComplete: boolean;
  tip(): Promise<BlockRef | null>;
}

/** Reads pages until a plan is made. Null: their chain changed in the meantime. */
async function decide(
  client: pg.ClientBase,
  ends: KnownEnds | null,
  chain: TheirChain,
  rule: Rule,
): Promise<Planned | null> {
  const isWindow = ends !== null && ends.isOneRun && chain.isOneRunFrom(ends.lowest);
  const from = isWindow ? ends.tip.height : genesisHeight;
  const first = await chain.above(from);
  if (first === null) return null;
  let ours: OurPart = { from, blocks: await knownRefs(client, from, maxHeight) };
  let theirs: TheirPart = { from, blocks: first, beyond: null, isComplete: chain.isComplete };
  for (;;) {
    const next = plan(ours, theirs, rule);
    if (next.kind !== 'needHeaders') return { plan: next, sourceTip: await chain.tip() };
    if (next.from >= ours.from) {
      const page = await chain.above(next.from);
      if (page === null) return null;
      theirs = { ...theirs, beyond: weighed(theirs.beyond, next.from, page), isComplete: chain.isComplete };
      continue;
    }
    const lowest = belowAll(next.from, ends) ? genesisHeight : next.from;
    const blocks = await chain.below(lowest, ours.from);
    if (blocks === null) return null;
    const known = await knownRefs(client, lowest, ours.from);
    ours = { from: lowest, blocks: [...known, ...ours.blocks] };
    theirs = { ...theirs, from: lowest, blocks: [...blocks, ...theirs.blocks] };
  }
}

function belowAll(height: Height, ends: KnownEnds | null): boolean {
  return ends !== null && height < ends.lowest;
}

/** Adds a page whose headers are only weighed. */
function weighed(
  before: TheirPart['beyond'],
  from: Height,
  page: readonly WeighedRef[],
): TheirPart['beyond'] {
  return {
    height: page.at(-1)?.height ?? (from === genesisHeight ? -1 : asHeight(from - 1)),
    work: page.reduce((sum, { work }) => sum + work, before?.work ?? 0n),
  };
}

/** The chain of a folder. It was read when the folder was opened. */
class RestingChain implements TheirChain {
  readonly isComplete = true;
  readonly #source: BlockSource;
  readonly #islands: readonly Island[];

  private constructor(source: BlockSource, islands: readonly Island[]) {
    this.#source = source;
    this.#islands = islands;
  }

  static async of(source: BlockSource): Promise<RestingChain> {
    return new RestingChain(source, await source.islands());
  }

  isOneRunFrom(lowest: Height): boolean {
    return this.#islands.length === 1 && this.#islands[0]?.firstHeight === lowest;
  }

  async above(from: Height): Promise<WeighedRef[]> {
    const refs = await this.#source.refs(from);
    return refs.map(({ height, hash }) => ({ height, hash, work: 0n }));
  }

  async below(from: Height, end: number): Promise<WeighedRef[]> {
    return (await this.above(from)).filter(({ height }) => height < end);
  }

  async tip(): Promise<BlockRef | null> {
    const last = this.#islands.at(-1)?.lastHeight;
    return last === undefined ? null : ((await this.#source.refs(last)).at(-1) ?? null);
  }
}

/**
 * The chain of a node. Its headers are requested page by page, and must fit the headers already returned. A page that
 * ends early ends at the node's tip. The chain begins at the start of its island, because lower blocks hold no
 * inscriptions.
 */
class LiveChain implements TheirChain {
  isComplete = false;
  readonly #source: LiveBlockSource;
  readonly #signal: AbortSignal;
  readonly #ourTip: BlockRef | null;
  #lowest: HeaderRef | null = null;
  #highest: HeaderRef | null = null;

  /** @param ourTip the block that the node's chain probably has, too */
  constructor(source: LiveBlockSource, signal: AbortSignal, ourTip: BlockRef | null) {
    this.#source = source;
    this.#signal = signal;
    this.#ourTip = ourTip;
  }

  /** True if our chain has every block that matters, because a node has all blocks. */
  isOneRunFrom(lowest: Height): boolean {
    return lowest <= networks[this.#source.network].firstInscriptionHeight;
  }

  async above(from: Height): Promise<WeighedRef[] | null> {
    const first = await this.#atLeastFirst(from);
    const headers = await this.#run(first, first + pageHeaders);
    if (headers === null || !isRun(this.#highest, headers)) return null;
    this.isComplete = headers.length < pageHeaders;
    this.#lowest ??= headers[0] ?? null;
    this.#highest = headers.at(-1) ?? this.#highest;
    return headers.map(weighedRef);
  }

  async below(from: Height, end: number): Promise<WeighedRef[] | null> {
    const headers = await this.#run(await this.#atLeastFirst(from), end);
    if (headers === null || (this.#lowest !== null && !follows(this.#lowest, headers.at(-1)))) return null;
    this.#lowest = headers[0] ?? this.#lowest;
    this.#highest ??= headers.at(-1) ?? null;
    return headers.map(weighedRef);
  }

  async tip(): Promise<BlockRef | null> {
    return (this.isComplete ? this.#highest : null) ?? this.#source.tip(this.#signal);
  }

  /**
   * The height itself, or the start of their chain if that is higher. If a node has not reached the start, it has no
   * blocks above it either.
   */
  async #atLeastFirst(from: Height): Promise<Height> {
    if (from > 0) return from;
    const [island] = await this.#source.islands();
    return island?.firstHeight ?? networks[this.#source.network].firstInscriptionHeight;
  }

  /** Headers at heights `from` to `end` - 1, or up to their tip, in as many pages as needed. */
  async #run(from: Height, end: number): Promise<HeaderRef[] | null> {
    const headers: HeaderRef[] = [];
    for (let at = from; at < end; at = asHeight(from + headers.length)) {
      const count = Math.min(pageHeaders, end - at);
      const expected = at === this.#ourTip?.height ? this.#ourTip.hash : undefined;
      const page = await this.#source.headers(at, count, this.#signal, expected);
      if (!isRun(headers.at(-1) ?? null, page)) return null;
      headers.push(...page);
      if (page.length < count) break;
    }
    return headers;
  }
}

function weighedRef({ height, hash, header }: HeaderRef): WeighedRef {
  return { height, hash, work: workOfHeader(header) };
}

/**
 * Whether the parent of each header is the header before it. The parent of the first header must be the last known
 * block.
 */
function isRun(before: HeaderRef | null, headers: readonly HeaderRef[]): boolean {
  let last = before;
  for (const header of headers) {
    if (last !== null && !follows(header, last)) return false;
    last = header;
  }
  return true;
}

function follows({ height, header }: HeaderRef, parent: HeaderRef | undefined): boolean {
  if (parent === undefined || parent.height !== height - 1) return false;
  return Buffer.compare(header.subarray(4, 36), parent.hash) === 0;
}
