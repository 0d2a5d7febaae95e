import { strict as assert } from 'node:assert';
import type { RecentTransactions } from '#indexer/ledger/runes/commitment.ts';
import { outpointLength, outpointName } from '#indexer/ledger/runes/outpoint-name.ts';
import {
  type RuneMessage,
  type RuneQuestion,
  runeMessages,
  runeQuestion,
  type TrackedFingerprints,
} from '#indexer/ledger/runes/rune-block.ts';
import { type RuneOutputs } from '#indexer/ledger/runes/rune-outputs.ts';
import { RuneState, transactionsMax } from '#indexer/ledger/runes/rune-state.ts';
import { viewOf } from '#indexer/ledger/view-of.ts';
import type { ParsedBlock } from '#indexer/workers/parse-pool.ts';
import { isReservedRune, type Rune } from '#kernel/runes/rune.ts';
import { smallU128 } from '#kernel/runes/u128.ts';
import { minimumRuneAt } from '#kernel/runes/unlock-schedule.ts';
import type { DerivedChain, DerivedQuestion } from '../derived-table.ts';
import { BatchTxids } from './recent-blocks.ts';
import type { RecentRunes } from './recent-runes.ts';
import { ensureAskedIndexes } from './rune-indexes.ts';
import { type RuneMemory, type RunePosition, readRunePosition } from './rune-memory.ts';
import { type AskedRunes, askRunes, type RuneAnswer } from './rune-question.ts';

/** A block and the messages read from it, before it is applied. */
export interface ReadRunes {
  readonly block: ParsedBlock;
  readonly messages: readonly RuneMessage[];
  readonly question: RuneQuestion;
  /** Names that the block etches, if they are free and it commits to them. */
  readonly names: readonly Rune[];
}

/** Facts known before the blocks of a batch are applied. */
export interface RuneBatch {
  readonly start: RunePosition;
  readonly state: RuneState;
  /** The anchored blocks of the batch, by height. */
  readonly read: ReadonlyMap<number, ReadRunes>;
  /** Transactions that are too young for commitments, by the height of the block that etches a name. */
  readonly recent: ReadonlyMap<number, RecentTransactions>;
  readonly txids: BatchTxids;
}

export interface EarlierBatch {
  readonly position: RunePosition;
  readonly state: RuneState;
}

/** Stands for the tracked outputs in `verify`, which has no in-memory state: any output may hold runes. */
const everything: TrackedFingerprints = { size: Number.POSITIVE_INFINITY, has: () => true };

type Question = Pick<DerivedQuestion, 'client' | 'blocks' | 'below'>;

/** The tables, the in-memory state and the batch that answer questions about runes. */
export interface RuneKnowledge {
  readonly chain: DerivedChain;
  readonly memory: RuneMemory | null;
  /** The batch that is being committed. */
  readonly earlier: EarlierBatch | null;
}

/**
 * Reads the messages of a batch and finds the facts of earlier blocks that they need: from memory, from the batch that
 * is being committed, and from the database in one query. No query is made if the blocks name no rune.
 */
export async function readRunes(question: Question, knowledge: RuneKnowledge): Promise<RuneBatch> {
  const { chain, memory, earlier } = knowledge;
  const { client, blocks, below } = question;
  const { network } = chain;
  const start = earlier?.position ?? memory?.position ?? (await readRunePosition(client, below, network));
  const tracked = trackedBy(memory, earlier?.state ?? null);
  const read = new Map<number, ReadRunes>();
  for (const block of anchoredOf(blocks, start, network.firstRuneHeight))
    read.set(block.ref.height, readBlock(block, chain, tracked));
  const state = await askedState(question, knowledge, start, [...read.values()]);
  const txids = new BatchTxids(blocks, {
    recent: memory?.recent ?? null,
    readBlock: chain.readBlock,
    firstHeight: network.firstRuneHeight,
  });
  const recent = new Map<number, RecentTransactions>();
  for (const [height, { block, names }] of read)
    if (names.length > 0) recent.set(height, await txids.recentOf(block.ref));
  return { start, state, read, recent, txids };
}

async function askedState(
  { client, blocks, below }: Question,
  { memory, earlier }: RuneKnowledge,
  { nextKey }: RunePosition,
  read: readonly ReadRunes[],
): Promise<RuneState> {
  const state = new RuneState(nextKey, roomFor(read));
  const before = earlier?.state ?? null;
  const { asked, inputs } = tell(read, { before, newest: memory?.newest ?? null }, state);
  if (Object.values(asked).every(({ length }) => length === 0)) return state;
  if (memory?.hasAskedIndexes === false) {
    await ensureAskedIndexes(client);
    memory.hasAskedIndexes = true;
  }
  const spentUpTo = memory === null ? (blocks.at(-1)?.ref.height ?? null) : null;
  const answer = await askRunes(client, asked, { below, spentUpTo }, state);
  tellAnswer(answer, inputs, state);
  // the database's answer describes the state before that batch
  for (const key of answer.keys) tellRune(before, key, state);
  return state;
}

/** Assumed number of outputs per message. Most messages give runes to one or two outputs. */
const outputsPerMessage = 2;

function roomFor(read: readonly ReadRunes[]): { made: number; held: number } {
  const room = { made: 0, held: 0 };
  for (const { messages, question } of read) {
    room.made += messages.length * outputsPerMessage;
    room.held += question.inputs.length;
  }
  return room;
}

/** The next blocks up to the first unanchored block. After an unanchored block, runes are unknown. */
function anchoredOf(
  blocks: readonly ParsedBlock[],
  start: RunePosition,
  firstRuneHeight: number,
): ParsedBlock[] {
  const anchored: ParsedBlock[] = [];
  let before = start;
  for (const block of blocks) {
    const position = nextPosition(before, block, firstRuneHeight);
    if (!position.anchored) break;
    anchored.push(block);
    before = position;
  }
  return anchored;
}

/**
 * Whether all runes are known after a block: the index must have all blocks before it since the first, and the outputs
 * that it spends.
 */
export function nextPosition(
  { height: before, anchored, nextKey }: RunePosition,
  { ref: { height }, hasSpent, columns }: ParsedBlock,
  firstRuneHeight: number,
): RunePosition {
  const follows = height === firstRuneHeight || (anchored && height === before + 1);
  return { height, nextKey, anchored: follows && (hasSpent || columns.txOutputs.length <= 1) };
}

/** Outputs that may hold runes: committed outputs, and outputs of the batch that is being committed. */
function trackedBy(memory: RuneMemory | null, earlier: RuneState | null): TrackedFingerprints {
  if (memory === null) return everything;
  const { tracked } = memory;
  if (earlier === null || earlier.made.size === 0) return tracked;
  const { made } = earlier;
  return {
    size: made.size + tracked.size,
    has: (low, high) => made.mayHave(low, high) || tracked.has(low, high),
  };
}

function readBlock(block: ParsedBlock, { network }: DerivedChain, tracked: TrackedFingerprints): ReadRunes {
  const { bytes, columns, facts, ref } = block;
  assert(facts.runestoneCandidates !== undefined, 'the candidates of a block were not read');
  const messages = runeMessages(bytes, columns, facts.runestoneCandidates);
  const question = runeQuestion({ bytes, columns, messages }, tracked);
  const minimum = minimumRuneAt(network, ref.height);
  const names = question.names.filter((name) => name >= minimum && !isReservedRune(name));
  return { block, messages, question, names };
}

/** Sources that need no query: the batch that is being committed, and the in-memory state of earlier batches. */
interface Remembered {
  readonly before: RuneState | null;
  readonly newest: RecentRunes | null;
}

/** An input whose output must be queried. */
interface AskedInput {
  readonly block: ParsedBlock;
  readonly input: number;
  /** Offset of its outpoint in the block. */
  readonly at: number;
}

/** Questions left for the database. */
interface LeftToAsk {
  readonly asked: AskedRunes;
  /** One input per outpoint. */
  readonly inputs: AskedInput[];
}

/**
 * Adds the remembered facts to the state, and returns the remaining questions. All of memory is probed before the first
 * wait.
 */
function tell(read: readonly ReadRunes[], remembered: Remembered, state: RuneState): LeftToAsk {
  const asked: AskedRunes = { outpoints: [], ids: [], names: [], keys: [] };
  const inputs: AskedInput[] = [];
  const keys = new Set<number>();
  for (const each of read) tellHeld(each, remembered, state, inputs);
  for (const { block, at } of inputs) asked.outpoints.push(block.bytes.subarray(at, at + outpointLength));
  const { held } = state;
  for (let balance = 0; balance < held.balances; balance++) keys.add(held.keyOf(balance));
  const first = read[0]?.block.ref.height ?? 0;
  tellMinted(mintsOf(read, first), remembered, state, asked);
  for (const key of keys) if (!tellRemembered(remembered, key, state)) asked.keys.push(key);
  for (const name of read.flatMap(({ names }) => names)) {
    if (remembered.before?.isTaken(name) === true) state.learnTaken(name);
    else asked.names.push(name);
  }
  return { asked, inputs };
}

/** @param asked receives the inputs whose outputs are not in memory */
function tellHeld(
  { block, question }: ReadRunes,
  { before, newest }: Remembered,
  { held }: RuneState,
  asked: AskedInput[],
): void {
  const { inputFingerprintLow, inputFingerprintHigh } = block.columns;
  const view = viewOf(block.bytes);
  for (const [place, input] of question.inputs.entries()) {
    const at = question.outpointsAt[place]!;
    const low = inputFingerprintLow[input]!;
    const high = inputFingerprintHigh[input]!;
    if (before !== null && isToldBy(before, held, view, at, low, high)) continue;
    if (newest !== null && newest.tell(held, view, at, low, high) >= 0) continue;
    asked.push({ block, input, at });
  }
}

/**
 * Adds the runes in an output that the previous batch knows. Adds none if that batch has spent the output. Returns
 * whether the batch knows the output.
 */
function isToldBy(
  { made, held }: RuneState,
  into: RuneOutputs,
  outpoint: DataView,
  at: number,
  low: number,
  high: number,
): boolean {
  for (const outputs of [made, held]) {
    const row = outputs.find(outpoint, at, low, high);
    if (row < 0) continue;
    if (!outputs.isSpent(row)) into.addAs(outputs, row);
    return true;
  }
  return false;
}

/** Adds the database's answer about outputs to the state. */
function tellAnswer(answer: RuneAnswer, inputs: readonly AskedInput[], { held }: RuneState): void {
  for (const { block, input, at } of inputs) {
    const known = answer.held.get(outpointName(block.bytes, at));
    if (known === undefined) continue;
    const { inputFingerprintLow, inputFingerprintHigh } = block.columns;
    held.add(viewOf(block.bytes), at, {
      height: known.height,
      tx: known.tx,
      low: inputFingerprintLow[input]!,
      high: inputFingerprintHigh[input]!,
    });
    for (const { key, amount } of known.balances) held.give(key, amount);
  }
}

/**
 * Ids of the runes that the blocks mint, each once. Omits runes that the blocks etch themselves and ids that no rune
 * can have.
 */
function mintsOf(read: readonly ReadRunes[], first: number): Iterable<{ block: number; tx: number }> {
  const ids = new Map<number, { block: number; tx: number }>();
  for (const { question } of read) {
    for (const { block, tx } of question.mints) {
      if (typeof block !== 'number' || block >= first || tx >= transactionsMax) continue;
      const id = block * transactionsMax + tx;
      if (!ids.has(id)) ids.set(id, { block, tx });
    }
  }
  return ids.values();
}

function tellMinted(
  ids: Iterable<{ readonly block: number; readonly tx: number }>,
  remembered: Remembered,
  state: RuneState,
  asked: AskedRunes,
): void {
  const { before, newest } = remembered;
  for (const { block, tx } of ids) {
    const known = before?.byId({ block: smallU128(block), tx }) ?? newest?.byId(block, tx);
    if (known === undefined) asked.ids.push({ block, tx });
    else tellRemembered(remembered, known.entry.key, state);
  }
}

/** Adds a rune from memory to the state. Returns false if memory does not have it. */
function tellRemembered({ before, newest }: Remembered, key: number, state: RuneState): boolean {
  const known = before?.find(key) ?? newest?.byKey(key);
  if (known === undefined) return false;
  state.learnRune(known.entry, known.mints, known.burned);
  return true;
}

function tellRune(earlier: RuneState | null, key: number, state: RuneState): void {
  const known = earlier?.find(key);
  if (known !== undefined) state.learnRune(known.entry, known.mints, known.burned);
}
